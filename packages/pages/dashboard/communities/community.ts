/** Communities are data scopes with a name, as their owners see them. */

import { type DataScope, guildOf } from "@accountlink/core";
import { BadRequest, type PlatformUnavailable, type StoreEffect } from "@accountlink/core/errors";
import type { ConfiguredScope } from "@accountlink/core/keys";
import { filterLimited, forEachLimited } from "@accountlink/core/limited_loops";
import { type OwnedScope, OwnedScopes } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { flowPath } from "../../flow/flow_form.ts";
import { type Html, html, to } from "../../html.ts";
import { menuField } from "../look/field.ts";
import { communityName } from "../look/names.ts";
import { say } from "../look/say.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { may, paths } from "../paths.ts";

/** A data scope with the name of its guild on the chat platform; null if unknown. */
export interface Community extends ConfiguredScope {
  readonly guildName: string | null;
}

/** The same with the numbers of its links and keys. */
export type CountedCommunity = Community & OwnedScope;

export const communityMenu = (communities: ReadonlyArray<Community>, pid: string): Html =>
  menuField({
    name: "pid",
    label: say("links.list"),
    value: pid,
    choices: communities.map((one) => ({ value: one.scope.pid, label: communityName(one) })),
  });

/** A menu of communities, hidden if there is only one. */
export const communityField: typeof communityMenu = (communities, pid) =>
  communities.length < 2
    ? html`<input type="hidden" name="pid" value="${communities[0]?.scope.pid ?? ""}">`
    : communityMenu(communities, pid);

/** The page of a section that needs a community, for an account without one. */
export const noCommunityPage = (
  section: "links" | "events" | "imports" | "alts",
  title: Html,
  text: Html,
): Page => ({
  isWorded: true,
  title,
  section,
  content: html`
<p class="empty">${text} ${may(paths.communities, html`<a href="${to(paths.communities)}">${say("links.add_community")}</a>`)}</p>`,
});

/** The page where anyone links their accounts for a community: the same address as the panel has. */
export const verifyUrl = (publicUrl: string, scope: DataScope): string =>
  `${publicUrl}${flowPath({ pid: scope.pid, guildId: guildOf(scope), redirect: null })}`;

/** The communities of the signed-in user, with the names of their guilds. */
export const makeCommunities = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const nameOf = yield* makeScopeNames;

  const named = <S extends ConfiguredScope>({ signIn }: OwnerVisitor, owned: S) => {
    const { scope } = owned;
    const known = signIn.guilds?.find(({ id }) => scope.kind === "guild" && id === scope.guildId)?.name;
    const name = known === undefined ? nameOf(scope) : Effect.succeed(known);
    return Effect.map(name, (guildName): S & Community => ({ ...owned, guildName }));
  };

  const namedAll = <S extends ConfiguredScope>(visitor: OwnerVisitor, all: ReadonlyArray<S>) =>
    forEachLimited(all, 8, (owned) => named(visitor, owned));

  const list = (visitor: OwnerVisitor) =>
    Effect.flatMap(scopes.list(visitor.owner), (all) => namedAll(visitor, all));
  const listCounted = (visitor: OwnerVisitor) =>
    Effect.flatMap(scopes.listCounted(visitor.owner), (all) => namedAll(visitor, all));

  /** Whether the team may read the links of a list; why the platform does not say so. */
  const isOpen = ({ scope }: ConfiguredScope) =>
    Effect.as(scopes.requireOpen(scope), true).pipe(
      Effect.catchTags({
        Forbidden: () => Effect.succeed(false),
        PlatformUnavailable: (failed) => Effect.succeed(failed),
      }),
    );

  const firstOpen = Effect.fnUntraced(function* <C extends Community>(all: ReadonlyArray<C>) {
    for (const community of all) if ((yield* isOpen(community)) === true) return community;
    return undefined;
  });

  const chosenOf = Effect.fnUntraced(function* <C extends Community>(all: ReadonlyArray<C>, pid: string) {
    if (pid === "") {
      const open = yield* firstOpen(all);
      // Where every list is closed, the page says that instead of asking for a first community.
      if (open === undefined && all[0] !== undefined) yield* scopes.requireOpen(all[0].scope);
      return { all, community: open };
    }
    const community = all.find(({ scope }) => scope.pid === pid);
    if (community === undefined) return yield* new BadRequest({ problem: "not_found" });
    yield* scopes.requireOpen(community.scope);
    return { all, community };
  });

  const findAny = (visitor: OwnerVisitor, pid: string) =>
    Effect.flatMap(scopes.managed(visitor.owner, pid), (owned) => named(visitor, owned));

  return {
    list,

    listCounted,

    /** Returns all communities, and the one with this `pid`; the first open one if `pid` is empty. Fails if all are closed. */
    choose: (visitor: OwnerVisitor, pid: string) =>
      Effect.flatMap(list(visitor), (all) => chosenOf(all, pid)),

    chooseCounted: (visitor: OwnerVisitor, pid: string) =>
      Effect.flatMap(listCounted(visitor), (all) => chosenOf(all, pid)),

    /** @param pid not validated yet */
    find: (visitor: OwnerVisitor, pid: string) =>
      Effect.tap(findAny(visitor, pid), ({ scope }) => scopes.requireOpen(scope)),

    /** The same for a community that may be closed. */
    findAny,

    findAnyCounted: (visitor: OwnerVisitor, pid: string) =>
      Effect.flatMap(scopes.ownedAny(visitor.owner, pid), (owned) => named(visitor, owned)),

    /**
     * Returns the communities that `has` picks: those whose links the team may read, and those of which the platform does
     * not say whether it may, with the reason.
     */
    listOpen: Effect.fnUntraced(function* (
      visitor: OwnerVisitor,
      has: (list: ConfiguredScope) => StoreEffect<boolean> = () => Effect.succeed(true),
    ) {
      const picked = yield* filterLimited(yield* scopes.list(visitor.owner), 8, has);
      const answers = yield* forEachLimited(picked, 4, isOpen);
      const of = (isMeant: (answer: boolean | PlatformUnavailable) => boolean) =>
        namedAll(
          visitor,
          picked.filter((_, index) => isMeant(answers[index] ?? false)),
        );
      return {
        open: yield* of((answer) => answer === true),
        silent: yield* of((answer) => typeof answer !== "boolean"),
        failed: answers.find((answer) => typeof answer !== "boolean") ?? null,
      };
    }),
  };
});

/** Returns a function that looks up the name of a scope's guild; null for a global scope, and if it is unknown. */
export const makeScopeNames = Effect.map(Profiles, (profiles) => (scope: DataScope) => {
  const guildId = guildOf(scope);
  return guildId === null
    ? Effect.succeed(null)
    : Effect.map(profiles.guild(guildId), (guild) => guild?.name ?? null);
});
