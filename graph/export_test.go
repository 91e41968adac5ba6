package graph

// What the tests in package graph_test share with those in here.
type (
	TestRow = row
	Result  = result
)

var (
	TestCodec = codec
	ReadJSON  = read
	As        = as
)
