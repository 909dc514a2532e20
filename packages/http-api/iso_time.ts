import { Schema } from "effect";

export const IsoTime = Schema.String.annotate({
  identifier: "Timestamp",
  description: "ISO 8601 timestamp",
  format: "date-time",
});
