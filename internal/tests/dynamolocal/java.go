package dynamolocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// leastJava is the version that DynamoDB Local is compiled for.
const leastJava = 17

// findJava finds a Java that will do, or installs one on Debian where we are allowed to.
func findJava(ctx context.Context) (string, error) {
	java, err := javaHere(ctx)
	if err == nil {
		return java, nil
	}
	apt, missing := exec.LookPath("apt-get")
	if missing != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("%w: install one, on Debian by 'apt-get install -y --no-install-recommends "+
			"openjdk-17-jre-headless'", err)
	}
	if err := do(ctx, "", apt, "update", "-qq"); err != nil {
		return "", err
	}
	if err := do(ctx, "", apt, "install", "-y", "-qq", "--no-install-recommends", "openjdk-17-jre-headless"); err != nil {
		return "", err
	}
	return javaHere(ctx)
}

// javaHere returns the first Java of JAVA_HOME and PATH that will do.
func javaHere(ctx context.Context) (string, error) {
	var found []error
	for _, java := range candidates() {
		version, err := javaVersion(ctx, java)
		if err == nil && version >= leastJava {
			return java, nil
		}
		if err == nil {
			err = fmt.Errorf("%s is Java %d", java, version)
		}
		found = append(found, err)
	}
	if len(found) == 0 {
		return "", errors.New("none is in PATH, and JAVA_HOME is not set")
	}
	return "", errors.Join(found...)
}

func candidates() (list []string) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		list = append(list, filepath.Join(home, "bin", "java"))
	}
	if java, err := exec.LookPath("java"); err == nil {
		list = append(list, java)
	}
	return list
}

var versionLine = regexp.MustCompile(`version "(\d+)`)

func javaVersion(ctx context.Context, java string) (int, error) {
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s -version: %w", java, err)
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("%s -version tells no version: %q", java, out)
	}
	return strconv.Atoi(string(match[1]))
}
