/**
 * Runs requests to the JSON routes of the dashboard through the checks: the sign-in, the account and role, the origin
 * and CSRF token of a write, and the parameters.
 */
import { type PublicError, RequestLimits, SignIns } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import type { KeyOwner } from "@accountlink/core/keys";
import { PlatformRefusals } from "@accountlink/core/platforms";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import {
  answering,
  type BoundRoute,
  contextMaker,
  envelopeV2,
  type HttpRequest,
  type HttpResponse,
  HttpSettings,
  makeObservers,
  parameterReader,
  type RequestContext,
  readJsonObject,
  render,
  type SuccessOf,
} from "@accountlink/http/for_pages";
import type { Parameters, ParameterValues, RawValues, Route } from "@accountlink/http-api";
import { Effect, Option, type Schema } from "effect";
import { type Answering, asEffect } from "../page_requests.ts";
import { siteOf } from "../sign_ins/site.ts";
import { makeMemberOf, type SignedInMember } from "./owner_pages.ts";

export interface OwnerInput<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly context: RequestContext;
  readonly signIn: SiteSignIn;
  readonly owner: KeyOwner;
  readonly member: SignedInMember;
}

/** Returns a function that binds a route of the dashboard to its handler. */
export const makeApiPipeline = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const signIns = yield* SignIns;
  const memberOf = yield* makeMemberOf;
  const { chargeTo } = yield* PlatformRefusals;
  const withContext = contextMaker(settings);
  const site = siteOf("dashboard", settings.publicUrl);
  const { origin } = new URL(settings.publicUrl);

  /** Protects against forged requests: a form of another site has neither our origin nor the token. */
  const checkWrite = Effect.fnUntraced(function* ({ request }: RequestContext, signIn: SiteSignIn) {
    const token = yield* signIns.csrfToken(signIn);
    if (request.header("origin") !== origin || request.header("x-csrf-token") !== token) {
      return yield* new Forbidden({ reason: "csrf" });
    }
  });

  return <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: OwnerInput<P>) => Answering<SuccessOf<S["Encoded"]> | HttpResponse, PublicError>,
  ): BoundRoute => {
    const { method, path } = route;
    const read = readerFor(route);
    const handle = Effect.fnUntraced(function* (context: RequestContext) {
      yield* limits.admitAddress(context.address, "second");
      // Before the checks of the sign-in and the role, which may end while a slow body arrives.
      const sent = yield* Effect.result(read(context));
      const signIn = yield* signIns.find("dashboard", site.session.read(context));
      const member = yield* memberOf(signIn, route.role ?? "owner", context.query["chatId"]);
      if (method !== "GET") {
        yield* checkWrite(context, signIn);
        if (!isOfSignIn(path)) yield* limits.admitDashboardWrite(member.account.name);
      }
      const values = yield* Effect.fromResult(sent);
      const owner = { account: member.account, chatId: signIn.chatId, requestId: context.requestId };
      return yield* chargeTo(owner.account.name)(
        asEffect(handler({ values, context, signIn, owner, member })),
      );
    });
    const answer = withContext(route, (context) =>
      render(envelopeV2, observers, answering(context, handle(context))),
    );
    return { method, path, answer };
  };
});

/** Whether a route changes only the sign-in: it leaves or switches the account, so the account's limit is no bar. */
const isOfSignIn = (path: string): boolean => path.startsWith("/dashboard/api/session");

/** Returns a function that reads values, such as those of a form, by the rules of a route. */
export const valuesReader = <P extends Parameters>(route: Route<P>) => {
  const read = parameterReader(route);
  // Values whose `scope` is "guild" must also have a `guildId`.
  return (raw: RawValues) => Effect.fromResult(read(raw, raw["scope"] === "guild" ? "guild" : "global"));
};

/** Returns a function that reads a route's parameters from the path, and from the query or the body. */
const readerFor = <P extends Parameters>(route: Route<P>) => {
  const read = valuesReader(route);
  const inPath = Object.keys(route.parameters).filter((name) => route.parameters[name]?.isInPath);

  // The body may be left out if every parameter has a default.
  const needsBody = Object.values(route.parameters).some(
    ({ isInPath, fallback }) => !isInPath && Option.getOrUndefined(fallback) === undefined,
  );

  const bodyOf = ({ request, query }: RequestContext) =>
    Effect.map(
      needsBody || hasBody(request) ? readJsonObject(request) : Effect.succeed({}),
      (body): RawValues => ({ ...body, ...Object.fromEntries(inPath.map((name) => [name, query[name]])) }),
    );

  return (context: RequestContext) =>
    Effect.flatMap(route.source === "body" ? bodyOf(context) : Effect.succeed(context.query), read);
};

const hasBody = (request: HttpRequest): boolean =>
  (request.header("content-length") ?? "0") !== "0" || request.header("transfer-encoding") !== undefined;
