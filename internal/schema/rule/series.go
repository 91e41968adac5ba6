package rule

// Time series: the events that are appended to rows.
var (
	SeriesUnknown = newRule("series-unknown",
		"{1} of @timeSeries names {2}, which is no stored field of the type",
		"name stored fields")
	SeriesSingleton = newRule("series-singleton",
		"has @timeSeries and no key",
		"mark the field that names a row @id")
	SeriesOrder = newRule("series-order",
		"orders the events of a time series, and is {1}",
		"order by a field that is a DateTime, a Date, an Int, an Int64, a Float or a Decimal")
	SeriesOrderNull = newRule("series-order-null",
		"orders the events of a time series, and may be null",
		"write {1}!")
	SeriesKey = newRule("series-key",
		"is part of the primary key, and @timeSeries names it",
		"leave it out: every event is of a row, and has its key")
	SeriesTwice = newRule("series-twice",
		"stands twice in @timeSeries",
		"name it once: orderBy is appended without standing in append")
	SeriesCopy = newRule("series-copy",
		"is a copy of a row, and @timeSeries appends it",
		"name the identifier: {1}")
	SeriesStamp = newRule("series-stamp",
		"is filled in by @{1}, and @timeSeries names it",
		"leave it out")
	SeriesWriters = newRule("series-writers",
		"is written by projector {1}, and {2}, which orders the events, by {3}",
		"append fields of the projector that writes {2}")
	SeriesKeep = newRule("series-keep",
		"@timeSeries keeps events for {1}, which is no duration that it could keep them for",
		"give weeks, days, hours, minutes and seconds, of up to 100 years together: keep: \"P30D\", keep: \"PT12H\"; "+
			"leave keep out to keep events for ever")
	SeriesOrderGuard = newRule("series-order-guard",
		"orders the events of a time series, and has @auth, though whoever asks for ranges of them learns its values",
		"move @auth to the type")
	SeriesOwner = newRule("series-owner",
		"@auth admits the owner of a row to {1}, and the events of the time series do not hold {2}, the @owner field",
		"append {2} too, or make it part of the primary key")
	SeriesEntityType = newRule("series-entity-type",
		"keeps the events of its time series under the entity type {1}, and type {2} has {3} in the same table",
		"give one of the two another in @entity(type: …), by more than its casing")
	SeriesOwnerRange = newRule("series-owner-range",
		"admits nobody to the events of its time series: rows are for their owners alone, and the partition key does not "+
			"say who the owner is",
		"make {1}, the @owner field, part of the partition key, without a casing and escaped, or admit groups")
)
