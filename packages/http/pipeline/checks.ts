/**
 * Checks a request with a key, in the order and with the numbers of the contract. Before these checks,
 * `request_context.ts` has given the request its ID (1.), and `app.ts` has found the route (2.).
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
import * as Immediate from "@accountlink/core/immediate";
import type { Requester } from "@accountlink/core/limits";
import type { Credential, Parameters, ParameterValues, Route } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import { type HttpRequest, type HttpResponse, queryTextOf } from "../http_app.ts";
import type { Learn, RequestContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { type FindProblems, premiumTest, valuesReader } from "./parameters.ts";
import { redirectIntoFlow } from "./redirect_into_flow.ts";

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
  /** Returns problems, which are reported together with malformed values. */
  readonly findProblems?: FindProblems<P>;
  /** Runs after `findProblems`, before the check of the key's tier. */
  readonly validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>;
}

export interface CheckOptions<P extends Parameters> extends ValueChecks<P> {
  /** Whether a request may read its record while its limits are counted, see `Prefetch`. */
  readonly prefetches?: boolean;
}

export const makeChecks = Effect.gen(function* () {
  const { publicUrl } = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const prefetch = new Prefetch();

  /** Counts a request against its limits, or refuses it. */
  const admit = (requester: Requester, learn: Learn) =>
    Immediate.flatMap(limits.admit(requester), ({ report, refusal }) => {
      learn({ limits: report });
      return refusal === null ? Effect.void : Effect.fail(refusal);
    });

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

    const enter = Immediate.fn(function* (arrived: RequestContext, learn: Learn) {
      const { address, request } = arrived;
      if (isKeyless(route, request)) return yield* redirectKeyless(arrived);
      // 3. The throttle of an address that sends wrong keys, and 4. the key: `KeyAuthenticator` of core checks both.
      const authenticated = yield* authenticator.authenticate(keyOf(request), address);
      const { key, quota } = authenticated;
      const context = learn({ key: authenticated });
      // 5. The key's allow and deny lists of addresses.
      if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
      // 6. The limits of the address, and 7. of the key. From here on the request counts.
      const admission = admit({ key, quota, address, traffic }, learn);
      const answer = handle(context, key, learn);
      return yield* prefetches
        ? prefetch.around(context, admission, answer)
        : Immediate.flatMap(admission, () => answer);
    });

    const handle = Immediate.fn(function* (context: RequestContext, key: ApiKey, learn: Learn) {
      // 8. The access of the key, and the tier that the route needs.
      if (!isAllowed(key)) return yield* new Forbidden({ reason: "key_access" });
      if (!isServed(key)) return yield* new PremiumRequired();
      // 9. Parameters and body.
      const { values, contract } = yield* readValues(context, key);
      if (validate !== undefined) yield* validate(values);
      // 10. The tier that the values need. A write then claims its idempotency key: `write` of `pipeline.ts` wraps its
      // handler in `answerOnce`.
      if (key.tier !== "premium" && asksForPremium(values)) return yield* new PremiumRequired();
      // 11. The guild, and 12. the work: the handler calls one service of core, such as `LinkLookup.byChat` or
      // `LinkWriter.setGame`, which asks `GuildGuard` first.
      return yield* handler({ values, key, context: learn({ contract }) }, learn);
    });

    return enter;
  };

  return checked;
});

const isKeyless = ({ access }: Route, request: HttpRequest): boolean =>
  access === "key_or_redirect" && request.header("authorization") === undefined;

const bearer: ReadonlyArray<Credential> = [{ header: "authorization", scheme: "Bearer" }];

/** Returns a function that reads the key from the first header that contains a key; null if no header does. */
export const keyReader =
  (credentials = bearer) =>
  (request: Pick<HttpRequest, "header">): string | null => {
    for (const { header, scheme } of credentials) {
      const key = keyIn(request.header(header), scheme);
      if (key !== null) return key;
    }
    return null;
  };

/** Stands for credentials with another scheme. No key has this text, so the request counts as one with a wrong key. */
const otherScheme = "other";

const schemes = { Bearer: /^bearer(?: |$)/i, Bot: /^bot(?: |$)/i };

/** Reads the key from a header value; null without a key. */
const keyIn = (value: string | undefined, scheme: Credential["scheme"]): string | null => {
  if (value === undefined) return null;
  if (scheme === null) return value.trim() || null;
  const key = schemes[scheme].test(value) ? value.slice(scheme.length).trim() : value.trim() && otherScheme;
  return key === "" ? null : key;
};

/** Returns a predicate that tells whether the access of a key includes the route. */
const accessTest = ({ keyAccess = [] }: Pick<Route, "keyAccess">) => {
  const allowed = new Set<ApiKey["access"]>(["full", ...keyAccess]);
  return ({ access }: ApiKey): boolean => allowed.has(access);
};

/** Returns a predicate that tells whether the route accepts the tier, the scope and the kind of a key. */
const tierTest = ({ tier }: Pick<Route, "tier">) => {
  if (tier === undefined) return () => true;
  return ({ tier: own, scope, kind }: ApiKey): boolean =>
    own === "premium" ||
    (tier === "premium_or_global" && scope.kind === "global") ||
    (tier === "premium_or_custom" && kind !== "normal");
};

/**
 * Reads the record of a lookup while the limits of its key are counted, so that the request waits once for Postgres and
 * Redis, not twice. This is only done for a lookup that probably runs alone: lookups that run at the same time count
 * first, and then share a statement. It is not done after a refused lookup, whose read was wasted.
 */
class Prefetch {
  #previous: Counting = { isConcurrent: false, isAdmitted: true };

  /** Runs `answer` after `admission`, or during it if the prediction allows. A refusal discards the answer. */
  around<E, A, E2, R>(
    context: RequestContext,
    admission: Effect.Effect<void, E>,
    answer: Effect.Effect<A, E2, R>,
  ): Effect.Effect<A, E | E2, R> {
    const previous = this.#previous;
    const isConcurrent = previous.isAdmitted === null;
    if (isConcurrent) previous.isConcurrent = true;
    const current: Counting = { isConcurrent, isAdmitted: null };
    this.#previous = current;
    const admitted = Immediate.matchCauseEffect(admission, {
      onSuccess: () => {
        current.isAdmitted = true;
        return Effect.void;
      },
      onFailure: (cause) => {
        current.isAdmitted = false;
        return Effect.failCause(cause);
      },
    });
    const isLikelyAlone = !previous.isConcurrent && previous.isAdmitted === true;
    return isLikelyAlone && asksStoreAlone(context)
      ? Immediate.meanwhile(admitted, answer)
      : Immediate.flatMap(admitted, () => answer);
  }
}

/** A lookup whose limits are counted. */
interface Counting {
  /** Whether the limits of another lookup were counted at the same time. */
  isConcurrent: boolean;
  /** Null until the limits are counted. */
  isAdmitted: boolean | null;
}

/** Whether a lookup reads only the store, and calls no platform for guilds, members or profiles. */
const asksStoreAlone = ({ query }: RequestContext): boolean =>
  query["guildId"] === undefined && query["resolved"] === undefined;
