package cloudevents

// member is one of the members that an event has in the JSON format.
type member struct {
	kind kind
	name string
}

// kind tells the members with a meaning here apart; the rest are extensions.
type kind uint8

const (
	extension kind = iota
	specVersion
	id
	source
	typeName
	subject
	timeStamp
	partitionKey
	dataSchema
	contentType
	data
)

// memberOf is the member of a name; one with a meaning here takes no memory.
func memberOf(name []byte) member {
	switch string(name) {
	case "specversion":
		return member{specVersion, "specversion"}
	case "id":
		return member{id, "id"}
	case "source":
		return member{source, "source"}
	case "type":
		return member{typeName, "type"}
	case "subject":
		return member{subject, "subject"}
	case "time":
		return member{timeStamp, "time"}
	case "partitionkey":
		return member{partitionKey, "partitionkey"}
	case "dataschema":
		return member{dataSchema, "dataschema"}
	case "datacontenttype":
		return member{contentType, "datacontenttype"}
	case "data":
		return member{data, "data"}
	}
	return member{extension, string(name)}
}
