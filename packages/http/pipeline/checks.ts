/**
 * Checks of a request with a key, in the order and with the numbers of the contract. `app.ts` has done the first two: the
 * request has an ID and a route.
 */
import {
  type ApiKey,
  Forbidden,
  KeyAuthenticator,
  PremiumRequired,
  type PublicError,
  RequestLimits,
} from "@accountlink/core";
import { isAddressAllowed } from "@accountlink/core/addresses";
import { SecurityLog } from "@accountlink/core/audit";
import * as Immediate from "@accountlink/core/immediate";
import type { Parameters, ParameterValues, Route } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import { type HttpRequest, queryTextOf } from "../http_request.ts";
import type { HttpResponse } from "../http_response.ts";
import type { Learn, RequestContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { keyReader } from "./key_reader.ts";
import { type FindProblems, premiumTest } from "./parameters.ts";
import { Prefetch } from "./prefetch.ts";
import { redirectIntoFlow } from "./redirect_into_flow.ts";
import { valuesReader } from "./request_values.ts";

export interface Input<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly context: RequestContext;
}

export interface KeyedInput<P extends Parameters> extends Input<P> {
  readonly key: ApiKey;
}

export type Answered = Success | HttpResponse;

/** Checks of values beyond the schemas of a route's parameters. */
export interface ValueChecks<P extends Parameters> {
  /** Its problems are reported together with malformed values. */
  readonly findProblems?: FindProblems<P>;
  /** Runs after `findProblems`, before the check of the key's tier. */
  readonly validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>;
}

export interface CheckOptions<P extends Parameters> extends ValueChecks<P> {
  /** Whether a lone request reads its record while its limits are counted, see `Prefetch`. */
  readonly prefetches?: boolean;
}

export const makeChecks = Effect.gen(function* () {
  const { publicUrl } = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const security = yield* SecurityLog;
  const prefetch = new Prefetch();

  const redirectKeyless = Effect.fnUntraced(function* ({ requestId, address, request }: RequestContext) {
    yield* authenticator.checkThrottle(address);
    yield* limits.admitKeyless(address);
    return redirectIntoFlow(publicUrl, requestId, queryTextOf(request));
  });

  /** Runs the checks of a route in order, then calls its handler. */
  const checked = <P extends Parameters, R>(
    route: Route<P>,
    handler: (input: KeyedInput<P>, learn: Learn) => Effect.Effect<Answered, PublicError, R>,
    { findProblems, validate, prefetches = false }: CheckOptions<P> = {},
  ) => {
    const keyOf = keyReader(route.service?.credentials);
    const { traffic = "mapping" } = route;
    const isAllowed = accessTest(route);
    const isServed = tierTest(route);
    const readValues = valuesReader(route, findProblems);
    const asksForPremium = premiumTest(route);

    /** Steps 8 to 12, after the limits below. */
    const answer = Immediate.fn(function* (context: RequestContext, key: ApiKey, learn: Learn) {
      // 8. The access of the key, and the tier that the route needs.
      if (!isAllowed(key)) return yield* new Forbidden({ reason: "key_access" });
      if (!isServed(key)) return yield* new PremiumRequired();
      // 9. Parameters and body.
      const { values, contract } = yield* readValues(context, key);
      if (validate !== undefined) yield* validate(values);
      // 10. The tier that the values need. The handler of a write then claims its idempotency key.
      if (key.tier !== "premium" && asksForPremium(values)) return yield* new PremiumRequired();
      // 11. The guild, checked by the service that the handler calls, and 12. the work.
      return yield* handler({ values, key, context: learn({ contract }) }, learn);
    });

    return Immediate.fn(function* (arrived: RequestContext, learn: Learn) {
      const { address, request } = arrived;
      if (isKeyless(route, request)) return yield* redirectKeyless(arrived);
      // 3. The throttle for wrong keys, and 4. the key.
      const authenticated = yield* authenticator.authenticate(keyOf(request), address);
      const { key, quota } = authenticated;
      const context = learn({ key: authenticated });
      yield* security.noteUse(key.id, address);
      // 5. The key's allow and deny lists of addresses.
      if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
      // 6. The limits of the address, and 7. of the key. From here on the request counts.
      // A lone lookup runs the rest meanwhile; a refusal discards its result.
      const counting = limits.admit({ key, quota, address, traffic });
      const rest = answer(context, key, learn);
      const [{ report, refusal }, answered] = prefetches
        ? yield* prefetch.meanwhile(context, counting, rest)
        : ([yield* counting, rest] as const);
      learn({ limits: report });
      return yield* refusal ?? answered;
    });
  };

  return checked;
});

const isKeyless = ({ access }: Route, request: HttpRequest): boolean =>
  access === "key_or_redirect" && request.header("authorization") === undefined;

/** Returns a predicate: whether the key's access includes the route. */
const accessTest = ({ keyAccess = [] }: Pick<Route, "keyAccess">) => {
  const allowed = new Set<ApiKey["access"]>(["full", ...keyAccess]);
  return ({ access }: ApiKey): boolean => allowed.has(access);
};

/** Returns a predicate: whether the route serves the key's tier, scope and kind. */
const tierTest = ({ tier }: Pick<Route, "tier">) => {
  if (tier === undefined) return () => true;
  return ({ tier: own, scope, kind }: ApiKey): boolean =>
    own === "premium" ||
    (tier === "premium_or_global" && scope.kind === "global") ||
    (tier === "premium_or_custom" && kind !== "normal");
};
