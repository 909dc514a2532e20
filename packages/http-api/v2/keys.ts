/**
 * The v2 route that revokes reported keys, because they leaked.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const report = { token: "alk_…", type: "accountlink_key", url: null, source: "commit" };
 * const Reports = Schema.Array(KeysV2.LeakReport).check(Schema.isMaxLength(KeysV2.maxLeakReports));
 * Schema.is(Reports)([report]); // true
 * const label = { token_raw: report.token, token_type: report.type, label: "false_positive" };
 * Schema.is(KeysV2.LeakLabel)(label); // true
 * KeysV2.reportLeakedKey.access; // "none"
 * ```
 */
import { Schema } from "effect";
import { text } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { successOf } from "./envelope.ts";

export const maxLeakReports = 100;

/** A report in the format that code hosts send. */
export const LeakReport = Schema.Struct({
  token: Schema.String,
  type: Schema.String,
  url: Schema.optionalKey(Schema.NullOr(Schema.String)),
  source: Schema.optionalKey(Schema.NullOr(Schema.String)),
}).annotate({ identifier: "LeakReport" });

/** The result for one reported token. */
export const LeakLabel = Schema.Struct({
  token_raw: Schema.String,
  token_type: Schema.String,
  label: Schema.Literals(["true_positive", "false_positive"]),
}).annotate({ identifier: "LeakLabel" });
export type LeakLabel = typeof LeakLabel.Type;

export const reportLeakedKey = defineRoute({
  id: "reportLeakedKey",
  generation: "v2",
  method: "POST",
  path: "/v2/keys/leaked",
  summary: "Report leaked keys",
  description:
    `Whoever holds a key may report it; it is revoked at once. An unknown key gets the ` +
    `same answer. A JSON array of up to ${maxLeakReports} reports, as code hosts send them, is ` +
    `answered with an array of labels outside the envelope.`,
  parameters: { key: text("The complete key") },
  source: "body",
  listItem: LeakReport,
  access: "none",
  group: null,
  success: Schema.Union([
    successOf({ revoked: Schema.Literal(true) }),
    Schema.Array(LeakLabel).annotate({ description: "The results of an array, in its order" }),
  ]),
  example: { key: "alk_Aa0Bb1Cc2Dd3_0123456789abcdefghijABCDEFGHIJ0123456789_-A" },
  errors: ["BULK_LIMIT_EXCEEDED"],
});
