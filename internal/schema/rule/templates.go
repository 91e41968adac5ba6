package rule

// Templates.
var (
	TemplateForm = newRule("template",
		"the template {1} {2}",
		"join literals and {field}s with #, such as post#{createdAt}#{id}")
	PadOfNoNumber = newRule("pad-of-no-number",
		"pads {1}, which is {2}",
		"pad numbers alone")
	PadRange = newRule("pad-range",
		"pads {1} to {2} digits",
		"pad to 1 to {3} digits")
	NumberUnpadded = newWarning("number-unpadded",
		"is a number in a sort key without padding, which sorts 10 before 9",
		"write {field:16} with as many digits as it can have")
)
