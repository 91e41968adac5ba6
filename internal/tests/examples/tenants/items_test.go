// Package tenants runs the server of examples/tenants over DynamoDB, and looks past it at the items that are stored.
package tenants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/exampleserver"
)

// project is the folder of the example.
const project = "../../../../examples/tenants"

func TestMain(m *testing.M) { exampleserver.Main(m, project) }

// guide is the table of items that the first key design guide prints, as it prints it; it calls edd_e what is called
// __edd_e__ in the items.
const guide = `
| pk | sk | gsi1pk | gsi1sk | edd_e |
|---|---|---|---|---|
| $myapp#v1#employee#employeeid_emp-alice | $myapp#v1#employee | $myapp#v1#tenantmembers#tenantid_t-acme | $myapp#v1#tenantmembers#employee_1#department_engineering#hiredate_2024-01-15 | Employee |
| $myapp#v1#task#taskid_t-001 | $myapp#v1#task | $myapp#v1#tenantmembers#tenantid_t-acme | $myapp#v1#tenantmembers#task_1#projectid_proj-alpha#taskid_t-001 | Task |
| $myapp#v1#employee#employeeid_emp-bob | $myapp#v1#employee | $myapp#v1#tenantmembers#tenantid_t-acme | $myapp#v1#tenantmembers#employee_1#department_sales#hiredate_2023-06-01 | Employee |
`

// own are the attributes of an item that are this system's own: the last event applied, which projection applied it,
// and how many writes there were. All others are those of the guide.
var own = regexp.MustCompile(`^(_pos\..*|_by|_rev)$`)

// numbers are the attributes that are numbers: one of tasks, and one that programs of the guide write.
var numbers = []string{"priority", "version"}

// item is an item as other programs see it: a text or a number by the name of each attribute.
type item map[string]string

// sample are the events of the example's sample.
func sample(t *testing.T) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "data", "sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// guideItems are the rows of the guide's table.
func guideItems(t *testing.T) (list []item) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(guide), "\n")
	names := strings.Split(strings.Trim(lines[0], "| "), " | ")
	for _, line := range lines[2:] {
		it := item{}
		for i, cell := range strings.Split(strings.Trim(line, "| "), " | ") {
			it[names[i]] = cell
		}
		it["__edd_e__"] = it["edd_e"]
		delete(it, "edd_e")
		list = append(list, it)
	}
	if len(list) != 3 {
		t.Fatalf("the table has %d items", len(list))
	}
	return list
}

// TestItemsEqualTheGuides, attribute by attribute: the keys are those of its table, the others those of the rest of it.
func TestItemsEqualTheGuides(t *testing.T) {
	rest := []item{
		{
			"gsi2pk": "$myapp#v1#employee#email_alice@acme.example", "gsi2sk": "$myapp#v1#employee",
			"gsi3pk": "$myapp#v1#contributions#employeeid_emp-alice",
			"gsi3sk": "$myapp#v1#contributions#employee_1#department_engineering",
			"gsi4pk": "$myapp#v1#departmentstaff#department_engineering", "gsi4sk": "$myapp#v1#employee_1#hiredate_2024-01-15",
			"employeeId": "emp-alice", "tenantId": "t-acme", "email": "alice@acme.example", "name": "Alice",
			"department": "engineering", "hireDate": "2024-01-15",
			"createdAt": "2024-01-10T08:00:00.000Z", "updatedAt": "2024-01-10T08:00:00.000Z",
		},
		{
			"gsi2pk": "$myapp#v1#task#employeeid_emp-alice", "gsi2sk": "$myapp#v1#task#priority_0000000000000020",
			"gsi3pk": "$myapp#v1#contributions#employeeid_emp-alice",
			"gsi3sk": "$myapp#v1#contributions#assignments#task_1#projectid_proj-alpha#taskid_t-001",
			"taskId": "t-001", "tenantId": "t-acme", "projectId": "proj-alpha", "employeeId": "emp-alice",
			"title": "Lay the foundation", "priority": "20", "status": "open",
			"createdAt": "2024-01-10T09:00:00.000Z", "updatedAt": "2024-01-11T00:00:00.000Z",
		},
		{
			"gsi2pk": "$myapp#v1#employee#email_bob@acme.example", "gsi2sk": "$myapp#v1#employee",
			"gsi3pk": "$myapp#v1#contributions#employeeid_emp-bob",
			"gsi3sk": "$myapp#v1#contributions#employee_1#department_sales",
			"gsi4pk": "$myapp#v1#departmentstaff#department_sales", "gsi4sk": "$myapp#v1#employee_1#hiredate_2023-06-01",
			"employeeId": "emp-bob", "tenantId": "t-acme", "email": "bob@acme.example", "name": "Bob",
			"department": "sales", "hireDate": "2023-06-01",
			"createdAt": "2024-01-10T08:30:00.000Z", "updatedAt": "2024-01-10T11:30:00.000Z",
		},
	}
	eachEngine(t, func(t *testing.T, s *site) {
		s.Append(t, sample(t)...)
		stored := s.scan(t)
		for i, want := range guideItems(t) {
			maps.Copy(want, rest[i])
			if diff := cmp.Diff(want, stored[want["pk"]+" "+want["sk"]]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", want["pk"], diff)
			}
		}
		kinds := map[string]int{}
		for _, it := range stored {
			kinds[it["__edd_e__"]]++
		}
		want := map[string]int{"Employee": 4, "Task": 5, "Equipment": 3, "ProjectMember": 4, "Membership": 5}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("items of each type (-want +got):\n%s", diff)
		}
	})
}

// TestGuidesQueriesFindTheItems: what programs of the guide ask DynamoDB itself gives the rows that it says.
func TestGuidesQueriesFindTheItems(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *site) {
		s.Append(t, sample(t)...)
		const acme, alice = "$myapp#v1#tenantmembers#tenantid_t-acme", "$myapp#v1#contributions#employeeid_emp-alice"
		const engineering = "$myapp#v1#departmentstaff#department_engineering"
		for _, tt := range []struct {
			index, pk, begins string
			want              []string
		}{
			{"gsi1", acme, "$myapp#v1#tenantmembers", []string{"Employee", "Employee", "Employee", "Task", "Task",
				"Task", "Task"}},
			{"gsi1", acme, "$myapp#v1#tenantmembers#employee_1", []string{"Employee", "Employee", "Employee"}},
			{"gsi1", acme, "$myapp#v1#tenantmembers#task_1", []string{"Task", "Task", "Task", "Task"}},
			{"gsi2", "$myapp#v1#employee#email_bob@acme.example", "", []string{"Employee"}},
			{"gsi2", "$myapp#v1#task#employeeid_emp-alice", "", []string{"Task", "Task", "Task"}},
			{"gsi3", alice, "$myapp#v1#contributions", []string{"ProjectMember", "ProjectMember", "Task", "Task", "Task",
				"Employee"}},
			{"gsi3", alice, "$myapp#v1#contributions#assignments", []string{"ProjectMember", "ProjectMember", "Task",
				"Task", "Task"}},
			{"gsi4", engineering, "", []string{"Employee", "Employee", "Employee", "Equipment", "Equipment"}},
			{"gsi4", engineering, "$myapp#v1#employee_1", []string{"Employee", "Employee", "Employee"}},
			{"", "$myapp#v1#membership#orgid_org-acme", "", []string{"Membership", "Membership", "Membership", "Membership"}},
		} {
			if diff := cmp.Diff(tt.want, s.query(t, tt.index, tt.pk, tt.begins)); diff != "" {
				t.Errorf("%q of %q, %q (-want +got):\n%s", tt.index, tt.pk, tt.begins, diff)
			}
		}
	})
}

// site is a server, and the table of the example behind it.
type site struct {
	*exampleserver.Server
	table string
}

func eachEngine(t *testing.T, test func(t *testing.T, s *site)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := exampleserver.Start(t, e)
			test(t, &site{s, s.Prefix + "Tenants"})
		})
	}
}

// scan returns all items of rows, by their keys, without the attributes that are this system's own.
func (s *site) scan(t *testing.T) map[string]item {
	t.Helper()
	all := map[string]item{}
	pages := dynamodb.NewScanPaginator(s.DynamoDB, &dynamodb.ScanInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		FilterExpression:         aws.String("attribute_not_exists(#d) AND attribute_not_exists(#f)"),
		ExpressionAttributeNames: map[string]string{"#d": "_deleted", "#f": "_fold"},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, attributes := range page.Items {
			it := texts(t, attributes)
			all[it["pk"]+" "+it["sk"]] = it
		}
	}
	return all
}

// texts are the attributes of an item that are not this system's own.
func texts(t *testing.T, attributes map[string]types.AttributeValue) item {
	t.Helper()
	it := item{}
	for name, v := range attributes {
		if own.MatchString(name) {
			continue
		}
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			it[name] = v.Value
		case *types.AttributeValueMemberN:
			it[name] = v.Value
			if !slices.Contains(numbers, name) {
				t.Errorf("attribute %s is a number", name)
			}
		default:
			t.Errorf("attribute %s is a %T", name, v)
		}
	}
	return it
}

// query asks DynamoDB for the items of a partition whose sort keys begin so, and returns their types in order.
func (s *site) query(t *testing.T, index, pk, begins string) (kinds []string) {
	t.Helper()
	in := &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": index + "pk"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	}
	if index != "" {
		in.IndexName = &index
	} else {
		in.FilterExpression = aws.String("attribute_not_exists(#deleted)")
		in.ExpressionAttributeNames["#deleted"] = "_deleted"
	}
	if begins != "" {
		*in.KeyConditionExpression += " AND begins_with(#sk, :sk)"
		in.ExpressionAttributeNames["#sk"] = index + "sk"
		in.ExpressionAttributeValues[":sk"] = &types.AttributeValueMemberS{Value: begins}
	}
	out, err := s.DynamoDB.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, attributes := range out.Items {
		kinds = append(kinds, texts(t, attributes)["__edd_e__"])
	}
	return kinds
}

// put writes an item past the server.
func (s *site) put(t *testing.T, it item) {
	t.Helper()
	attributes := map[string]types.AttributeValue{}
	for name, text := range it {
		attributes[name] = &types.AttributeValueMemberS{Value: text}
		if slices.Contains(numbers, name) {
			attributes[name] = &types.AttributeValueMemberN{Value: text}
		}
	}
	if _, err := s.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: attributes}); err !=
		nil {
		t.Fatal(err)
	}
}

// event is an event of an employee.
func event(t *testing.T, id, kind string, data map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": id, "source": "/tenants", "type": kind, "subject": fmt.Sprint("employee/",
			data["employeeId"]),
		"time": "2026-01-02T03:04:05Z", "data": data,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
