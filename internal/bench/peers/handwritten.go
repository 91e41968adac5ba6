package peers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/mailru/easyjson/jlexer"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// handwritten answers the workload as a developer would who has the store, time, and no GraphQL: one handler per
// question, reading just what it needs and appending the answer's JSON field by field.
type handwritten struct {
	db *querydb.DB
}

func (h handwritten) handler() http.Handler {
	mux := http.NewServeMux()
	for path, answer := range map[string]func(*http.Request, variables, []byte) ([]byte, error){
		"POST /Q1": h.order,
		"POST /Q2": h.newest,
		"POST /Q3": h.between,
		"POST /Q4": h.ofStatus,
		"POST /Q5": h.orderWithProducts,
		"POST /Q6": h.ofGroup,
		"POST /Q7": h.customersWithOrders,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { serve(w, r, answer) })
	}
	return mux
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

// serve reads the variables, lets answer append the value of data's one field, and sends it.
func serve(w http.ResponseWriter, r *http.Request, answer func(*http.Request, variables, []byte) ([]byte, error)) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	v, err := readVariables(r, (*buf)[:cap(*buf)])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := answer(r, v, append((*buf)[:0], `{"data":`...))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out = append(out, '}')
	*buf = out
	h := w.Header()
	h["Content-Type"] = contentType
	h["Content-Length"] = []string{strconv.Itoa(len(out))} // else net/http sends what is long in chunks
	_, _ = w.Write(out)
}

// readVariables reads the body into the buffer, and the variables out of it.
func readVariables(r *http.Request, buf []byte) (v variables, err error) {
	if r.ContentLength < 0 || r.ContentLength > int64(len(buf)) {
		return v, errors.New("the body is too large, or of unknown length")
	}
	body := buf[:r.ContentLength]
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return v, err
	}
	l := jlexer.Lexer{Data: body}
	for l.Delim('{'); l.Ok() && !l.IsDelim('}'); l.WantComma() {
		name := l.UnsafeFieldName(false)
		l.WantColon()
		if name == "variables" {
			v = variablesOf(&l)
		} else {
			l.SkipRecursive()
		}
	}
	return v, l.Error()
}

func variablesOf(l *jlexer.Lexer) (v variables) {
	for l.Delim('{'); l.Ok() && !l.IsDelim('}'); l.WantComma() {
		name := l.UnsafeFieldName(false)
		l.WantColon()
		if name == "ids" {
			v.IDs = stringsOf(l)
			continue
		}
		switch value := l.String(); name {
		case "id":
			v.ID = value
		case "from":
			v.From = value
		case "to":
			v.To = value
		case "status":
			v.Status = value
		case "group":
			v.Group = value
		}
	}
	l.Delim('}')
	return v
}

func stringsOf(l *jlexer.Lexer) (all []string) {
	for l.Delim('['); l.Ok() && !l.IsDelim(']'); l.WantComma() {
		all = append(all, l.String())
	}
	l.Delim(']')
	return all
}

var contentType = []string{"application/json; charset=utf-8"}

// field is a field of an answer: its JSON name with quotes and colon, and where the row has it.
type field struct {
	name    string
	ordinal int
}

func fields(m *querydb.Model, names ...string) []field {
	all := make([]field, len(names))
	for i, name := range names {
		all[i] = field{fmt.Sprintf("%q:", name), ordinal(m, name)}
	}
	return all
}

func ordinal(m *querydb.Model, name string) int {
	for i, f := range m.Fields {
		if f.Name == name {
			return i
		}
	}
	panic("no field " + name + " in " + m.Name)
}

func index(m *querydb.Model, name string) int {
	for i, x := range m.Indexes {
		if x.Name == name {
			return i
		}
	}
	panic("no index " + name + " in " + m.Name)
}

// ordinals are those of the fields, for a query that reads no others.
func ordinals(fs []field, more ...int) []int {
	for _, f := range fs {
		more = append(more, f.ordinal)
	}
	return more
}

var (
	q1 = fields(model.OrderModel, "orderId", "customerId", "customerGroup", "total", "placedAt")
	q2 = fields(model.OrderTrackingModel, "orderId", "changedAt", "customerId", "status", "total")
	q3 = fields(model.OrderTrackingModel, "orderId", "changedAt", "status", "total")
	q4 = fields(model.OrderTrackingModel, "orderId", "changedAt", "total")
	q5 = fields(model.OrderModel, "orderId")
	q6 = fields(model.OrderModel, "orderId", "total")

	q7 = fields(model.OrderModel, "orderId", "placedAt", "total")

	customerNames  = fields(model.CustomerModel, "customerId", "name")
	lineFields     = fields(model.OrderLineModel, "category", "productId", "quantity")
	customerFields = fields(model.CustomerModel, "name", "email")
	productFields  = fields(model.ProductModel, "productId", "name", "price")

	customerID = ordinal(model.OrderTrackingModel, "customerId")
	productIDs = ordinal(model.OrderModel, "productIds")
	byStatus   = index(model.OrderTrackingModel, "byStatus")
	byGroup    = index(model.OrderModel, "byCustomerGroup")
	byCustomer = index(model.OrderModel, "byCustomer")
)

// appendRow appends the fields of a row, without the closing brace, so that joins can follow.
func appendRow(b []byte, row querydb.Row, fs []field) []byte { return appendRecord(b, row.Record, fs) }

func appendRecord(b []byte, rec record.Record, fs []field) []byte {
	b = append(b, '{')
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, f.name...)
		if text := rec.JSON(f.ordinal); text != nil {
			b = append(b, text...)
		} else {
			b = append(b, "null"...)
		}
	}
	return b
}

// separated appends the comma that an element of a list needs, unless it is the first.
func separated(b []byte) []byte {
	if b[len(b)-1] == '[' {
		return b
	}
	return append(b, ',')
}

func (h handwritten) get(r *http.Request, m *querydb.Model, id string) (querydb.Row, error) {
	rows, err := h.db.Get(r.Context(), m, []keys.Key{{PK: id}}, false)
	if err != nil {
		return querydb.Row{}, err
	}
	return rows[0], nil
}

func (h handwritten) order(r *http.Request, v variables, b []byte) ([]byte, error) {
	row, err := h.get(r, model.OrderModel, v.ID)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_Order":`...)
	if row.Record == nil {
		return append(b, "null}"...), nil
	}
	return append(appendRow(b, row, q1), "}}"...), nil
}

func (h handwritten) timeline(r *http.Request, q querydb.Query, fs []field, b []byte) ([]byte, error) {
	q.Index, q.Fields = driver.Primary, ordinals(fs)
	page, err := h.db.Query(r.Context(), model.OrderTrackingModel, q)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_OrderTrackingById":{"items":[`...)
	for _, row := range page.Rows {
		b = append(appendRow(separated(b), row, fs), '}')
	}
	return append(b, "]}}"...), nil
}

func (h handwritten) newest(r *http.Request, v variables, b []byte) ([]byte, error) {
	return h.timeline(r, querydb.Query{PK: v.ID, Reverse: true, Limit: 5}, q2, b)
}

func (h handwritten) between(r *http.Request, v variables, b []byte) ([]byte, error) {
	within, err := model.OrderTrackingModel.SK.Layout.ParseOperands(keys.Operands{From: &v.From, To: &v.To})
	if err != nil {
		return nil, err
	}
	return h.timeline(r, querydb.Query{PK: v.ID, Range: within, Limit: 50}, q3, b)
}

func (h handwritten) ofStatus(r *http.Request, v variables, b []byte) ([]byte, error) {
	page, err := h.db.Query(r.Context(), model.OrderTrackingModel, querydb.Query{
		Index: byStatus, PK: v.Status, Reverse: true, Limit: 20, Fields: ordinals(q4, customerID),
	})
	if err != nil {
		return nil, err
	}
	ids := make([]keys.Key, len(page.Rows))
	for i, row := range page.Rows {
		ids[i].PK = unquote(row.Record.JSON(customerID))
	}
	customers, err := h.db.Get(r.Context(), model.CustomerModel, ids, false)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_OrderTrackingByStatus":{"items":[`...)
	for i, row := range page.Rows {
		b = append(appendRow(separated(b), row, q4), `,"customer":`...)
		if customers[i].Record == nil {
			b = append(b, "null}"...)
			continue
		}
		b = append(appendRow(b, customers[i], customerFields), "}}"...)
	}
	return append(b, "]}}"...), nil
}

func (h handwritten) orderWithProducts(r *http.Request, v variables, b []byte) ([]byte, error) {
	row, err := h.get(r, model.OrderModel, v.ID)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_Order":`...)
	if row.Record == nil {
		return append(b, "null}"...), nil
	}
	ids := elements(row.Record.JSON(productIDs), nil)
	products, err := h.db.Get(r.Context(), model.ProductModel, ids, false)
	if err != nil {
		return nil, err
	}
	b = appendProducts(appendRow(b, row, q5), products)
	return append(b, "}}"...), nil
}

func appendProducts(b []byte, products []querydb.Row) []byte {
	b = append(b, `,"products":[`...)
	for _, p := range products {
		if p.Record != nil {
			b = append(appendRow(separated(b), p, productFields), '}')
		}
	}
	return append(b, ']')
}

func (h handwritten) ofGroup(r *http.Request, v variables, b []byte) ([]byte, error) {
	page, err := h.db.Query(r.Context(), model.OrderModel, querydb.Query{
		Index: byGroup, PK: v.Group, Limit: 50, Fields: ordinals(q6, productIDs),
	})
	if err != nil {
		return nil, err
	}
	var ids []keys.Key
	ends := make([]int, len(page.Rows))
	for i, row := range page.Rows {
		ids = elements(row.Record.JSON(productIDs), ids)
		ends[i] = len(ids)
	}
	products, err := h.db.Get(r.Context(), model.ProductModel, ids, false)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_OrderByCustomerGroup":{"items":[`...)
	from := 0
	for i, row := range page.Rows {
		b = append(appendProducts(appendRow(separated(b), row, q6), products[from:ends[i]]), '}')
		from = ends[i]
	}
	return append(b, "]}}"...), nil
}

// unquote reads an id; the ids of the workload need no escapes.
func unquote(text []byte) string { return string(text[1 : len(text)-1]) }

// elements appends the ids of a JSON list of ids.
func elements(text []byte, to []keys.Key) []keys.Key {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := i + 1
		for text[end] != '"' {
			end++
		}
		to = append(to, keys.Key{PK: string(text[i+1 : end])})
		i = end
	}
	return to
}
