package dynamolocal

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestEnginesSpeakDynamoDBAndKeepTestsApart(t *testing.T) {
	for _, e := range Engines() {
		t.Run(string(e), func(t *testing.T) {
			first, second := Start(t, e), Start(t, e)
			if first.URL != second.URL {
				t.Errorf("two engines run, at %s and %s, and one was to be shared", first.URL, second.URL)
			}
			for _, place := range []Endpoint{first, second} {
				place.Setenv(t)
				createTable(t, place.Prefix+"Rows")
			}
		})
	}
}

func createTable(t *testing.T, name string) {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := "id"
	_, err = dynamodb.NewFromConfig(cfg).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// helper is set in a process that starts an engine, tells its address, and waits to be killed.
const helper = "DYNAMOLOCAL_TEST_ENGINE"

func TestMain(m *testing.M) {
	e := Engine(os.Getenv(helper))
	if e == "" {
		os.Exit(m.Run())
	}
	p, err := Run(context.Background(), Options{Engine: e})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.URL)
	<-p.Exited()
}

func TestAnEngineEndsWithAKilledProcess(t *testing.T) {
	for _, e := range Engines() {
		t.Run(string(e), func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helper+"="+string(e))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			url := strings.TrimSpace(line)
			if err != nil || !strings.HasPrefix(url, "http://") {
				t.Fatalf("the engine's address is %q, %v", line, err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the process ended well, though it was killed")
			}
			awaitSilence(t, strings.TrimPrefix(url, "http://"))
		})
	}
}

func awaitSilence(t *testing.T, address string) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.After(10 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		conn.Close()
		select {
		case <-deadline:
			t.Fatalf("%s still listens", address)
		case <-poll.C:
		}
	}
}

func TestAnEngineKeepsItsDataInAFolder(t *testing.T) {
	for _, e := range Engines() {
		t.Run(string(e), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			p, err := Run(t.Context(), Options{Engine: e, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			Endpoint{URL: p.URL, AccessKey: "first"}.Setenv(t)
			createTable(t, "Rows")
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
			if _, err := http.Get(p.URL); err == nil {
				t.Error("it answers after it was stopped")
			}
			if p, err = Run(t.Context(), Options{Engine: e, Dir: dir}); err != nil {
				t.Fatal(err)
			}
			Endpoint{URL: p.URL, AccessKey: "second"}.Setenv(t)
			cfg, err := config.LoadDefaultConfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			list, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
			if err != nil || len(list.TableNames) != 1 {
				t.Errorf("after a restart the tables are %v, %v", list, err)
			}
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestWhatIsNotPinnedIsNotStarted(t *testing.T) {
	modules := t.TempDir()
	path := filepath.Join(modules, "@dynoxide", "linux-x64", "dynoxide")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(modules, Dynoxide); !os.IsNotExist(err) {
		t.Errorf("a missing program: %v", err)
	}
	if err := os.WriteFile(path, []byte("another program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(modules, Dynoxide); err == nil || !strings.Contains(err.Error(), "is not what was pinned") {
		t.Errorf("another program: %v", err)
	}
}
