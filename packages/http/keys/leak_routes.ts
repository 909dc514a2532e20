import { ApiKeys, BulkLimitExceeded, KeyAuthenticator } from "@accountlink/core";
import { InvalidBody } from "@accountlink/core/errors";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { RequestPlaces } from "@accountlink/core/turns";
import { KeysV2 } from "@accountlink/http-api";
import { Effect, Schema } from "effect";
import { bareAnswer } from "../envelopes/envelope_v2.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { RequestContext } from "../request_context.ts";

export const leakRoutes = Effect.fnUntraced(function* ({ keyless }: Pipeline) {
  const keys = yield* ApiKeys;
  const authenticator = yield* KeyAuthenticator;
  const places = yield* RequestPlaces;

  const reportOne = Effect.fnUntraced(function* (token: string, { requestId, address }: RequestContext) {
    const outcome = yield* keys.reportLeaked(token, requestId);
    if (outcome === "unknown") yield* authenticator.countFailures(address, 1);
    return { data: { revoked: true as const } };
  });

  const reportMany = Effect.fnUntraced(function* (items: ReadonlyArray<unknown>, context: RequestContext) {
    const { length: received } = items;
    if (received > KeysV2.maxLeakReports) {
      return yield* new BulkLimitExceeded({ limit: KeysV2.maxLeakReports, received });
    }
    if (!areReports(items)) return yield* notReports;
    const labels = yield* forEachLimited(items, 10, ({ token, type }) =>
      Effect.map(
        // A step each, so that visits of other addresses wait for one report and not for the list.
        places.visit(context.address, keys.reportLeaked(token, context.requestId)),
        (outcome): KeysV2.LeakLabel => ({
          token_raw: token,
          token_type: type,
          label: outcome === "unknown" ? "false_positive" : "true_positive",
        }),
      ),
    );
    const wrong = labels.filter(({ label }) => label === "false_positive").length;
    yield* authenticator.countFailures(context.address, Math.min(wrong, maxCounted));
    return bareAnswer(context, labels);
  });

  return [
    keyless(KeysV2.reportLeakedKey, ({ values, context }) => reportOne(values.key, context), reportMany),
  ];
});

/**
 * An array with many unknown keys counts as only this many failed authentications, because code hosts report many keys
 * at once.
 */
const maxCounted = 10;

const areReports = Schema.is(Schema.Array(KeysV2.LeakReport));

const notReports = new InvalidBody({
  problem: "content",
  reason: "expected an array of objects with a token and a type",
});
