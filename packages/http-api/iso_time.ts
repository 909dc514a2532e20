import { Schema } from "effect";

/** A time in a response. */
export const IsoTime = Schema.String.annotate({ description: "ISO 8601 timestamp" });
