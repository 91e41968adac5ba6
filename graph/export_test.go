package graph

// What the tests in package graph_test share with those in here.
type (
	TestRow = row
)

var (
	TestCodec = codec
	As        = as
)
