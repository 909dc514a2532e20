/**
 * Pages and forms of the dashboard, for the owner of an account.
 */
import type { KeyOwner } from "@accountlink/core/keys";
import { Effect } from "effect";
import type { HttpServerResponse, UrlParams } from "effect/http";
import type { SiteError } from "../sign_ins/refusals.ts";
import { makeSiteRoutes, type Visitor } from "../sign_ins/site_routes.ts";
import { makeOwnerOf } from "./owner.ts";

/** Who opened a page of the dashboard. */
export interface OwnerVisitor extends Visitor {
  readonly owner: KeyOwner;
}

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, SiteError>;

/** `makeSiteRoutes` of the dashboard, where every page and form knows the account. */
export const makeOwnerPages = Effect.gen(function* () {
  const site = yield* makeSiteRoutes("dashboard");
  const ownerOf = yield* makeOwnerOf;

  const withOwner = (visitor: Visitor): Effect.Effect<OwnerVisitor, SiteError> =>
    Effect.map(ownerOf(visitor.signIn), (account) => {
      const { signIn, context } = visitor;
      return { ...visitor, owner: { account, chatId: signIn.chatId, requestId: context.requestId } };
    });

  return {
    ...site,

    /** A page. Anyone else is sent to sign in. */
    page: (path: `/dashboard${string}`, answer: (visitor: OwnerVisitor) => Answer) =>
      site.page(path, (visitor) => Effect.flatMap(withOwner(visitor), answer)),

    /** A form of a page, whose field `csrf` is checked. */
    form: (
      path: `/dashboard${string}`,
      answer: (visitor: OwnerVisitor, fields: UrlParams.UrlParams) => Answer,
    ) =>
      site.form(path, (visitor, fields) =>
        Effect.flatMap(withOwner(visitor), (owner) => answer(owner, fields)),
      ),
  };
});
