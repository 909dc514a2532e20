/** Routes of the community pages: the list, and the settings of one community's verification texts. */
import { ChatPlatform, guildOf, SessionSettings } from "@accountlink/core";
import { makeAskingName, type OwnedScope, OwnedScopes } from "@accountlink/core/communities";
import { BadRequest, type ParameterProblem } from "@accountlink/core/errors";
import { RolePlanStore } from "@accountlink/core/roles";
import { basePathOf, HttpSettings, parameterReader } from "@accountlink/http/for_pages";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect, Record } from "effect";
import { documentBelow } from "../../base_path.ts";
import { readerOf } from "../../page_render.ts";
import { PageSettings } from "../../page_settings.ts";
import { given } from "../keys/keys_api.ts";
import { makeGuildChoice, type OwnerPages, type OwnerVisitor, seeOther, typedIn } from "../owner_pages.ts";
import { communityPath, paths } from "../paths.ts";
import { previewDocument } from "../preview/preview_states.ts";
import { makePanelView } from "./bot_panel.ts";
import { makeScopeNames } from "./communities_api.ts";
import { communitiesPage } from "./communities_page.ts";
import { type Community } from "./community.ts";
import { communityPage, type SaidForm, saidLabels } from "./community_page.ts";
import { hasPlanOn, makeBotInvite } from "./first_steps.ts";

export const communitiesRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const scopes = yield* OwnedScopes;
  const communities = yield* makeCommunities;
  const settings = yield* PageSettings;
  const httpSettings = yield* HttpSettings;
  const { sightingRetention } = yield* SessionSettings;
  const { publicUrl } = httpSettings;
  const basePath = basePathOf(httpSettings);
  const guildsOf = yield* makeGuildChoice;
  const botInvite = yield* makeBotInvite;
  const { commands } = yield* ChatPlatform;
  const plans = yield* RolePlanStore;
  const panelOf = yield* makePanelView;
  const update = parameterReader(DashboardCommunities.patchScope);
  const askingName = yield* makeAskingName;

  const previewsOf = Effect.fnUntraced(function* (
    { context: { language }, owner: { requestId } }: OwnerVisitor,
    { scope, guildName }: Community,
    said: SaidForm,
  ) {
    const set = settingsOf(said);
    const texts = { ...set, displayName: yield* askingName(scope, { ...set, guildName }) };
    const shown = (title: string, state: string) => ({
      title,
      document: documentBelow(
        basePath,
        previewDocument(state, texts, { ...readerOf(settings, language), sightingRetention }, requestId),
      ),
    });
    return [shown("the beginning", "begin"), shown("the end", "done")];
  });

  const one = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: SaidForm | null,
    problems: ReadonlyArray<ParameterProblem>,
    panelText = "",
  ) {
    const community = yield* communities.find(visitor, String(visitor.context.query["pid"]));
    const said = typed ?? Record.map(saidLabels, (_, name) => community.settings[name] ?? "");
    const guildId = guildOf(community.scope);
    const view = {
      community,
      guilds: yield* guildsOf(visitor),
      botInvite: botInvite(guildId),
      tryUrl: guildId === null ? null : (commands?.tryUrl?.(guildId) ?? null),
      publicUrl,
      rolesOn: hasPlanOn(yield* plans.list(community.scope.pid)),
      panel: guildId === null ? null : yield* panelOf({ scope: community.scope, guildId }, panelText),
      previews: yield* previewsOf(visitor, community, said),
    };
    return communityPage(view, said, visitor, problems);
  });

  return [
    page(
      paths.communities,
      Effect.fnUntraced(function* (visitor) {
        return communitiesPage({
          communities: yield* communities.list(visitor),
          guilds: yield* guildsOf(visitor),
          botInvite,
          publicUrl,
          rolesOn: false,
        });
      }),
    ),

    page(communityPath(":pid"), (visitor, query) => one(visitor, null, [], query("text"))),

    form(
      communityPath(":pid"),
      Effect.fnUntraced(function* (visitor, fields) {
        const said = typedIn(saidLabels, fields);
        if (fields("act") === "preview") return yield* one(visitor, said, []);
        const pid = String(visitor.context.query["pid"]);
        const save = Effect.fromResult(update({ pid, ...settingsOf(said) }, "global")).pipe(
          Effect.flatMap(({ pid: _, ...changes }) => scopes.update(visitor.owner, pid, given(changes))),
          Effect.map(({ scope }) => seeOther(communityPath(scope.pid), { done: "said" })),
        );
        return yield* Effect.catchTag(save, "InvalidParameter", ({ parameters }) =>
          one(visitor, said, parameters.map(asTyped)),
        );
      }),
    ),
  ];
});

/** Rewords a problem for a form, where users leave a field empty instead of sending null. */
const asTyped = ({ name, reason }: ParameterProblem): ParameterProblem => ({
  name,
  reason:
    name === "supportUrl"
      ? "expected an address that begins with https://, such as https://example.com/help"
      : reason.replace(/or null$/, "or nothing"),
});

/** Texts that are left empty are removed. */
const settingsOf = (said: SaidForm) => Record.map(said, (text) => text || null);

/** The communities of the signed-in user, with the names of their guilds. */
export const makeCommunities = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const nameOf = yield* makeScopeNames;

  const named = Effect.fnUntraced(function* ({ signIn }: OwnerVisitor, owned: OwnedScope) {
    const { scope } = owned;
    const known = signIn.guilds?.find(({ id }) => scope.kind === "guild" && id === scope.guildId)?.name;
    return { ...owned, guildName: known ?? (yield* nameOf(scope)) };
  });

  const list = (visitor: OwnerVisitor) =>
    Effect.flatMap(scopes.list(visitor.owner.account), (all) =>
      Effect.forEach(all, (owned) => named(visitor, owned), { concurrency: 8 }),
    );

  return {
    named,
    list,

    /**
     * Returns all communities, and one of them: the community with this `pid`, or the first community if `pid` is
     * empty.
     */
    choose: Effect.fnUntraced(function* (visitor: OwnerVisitor, pid: string) {
      const all = yield* list(visitor);
      const community = pid === "" ? all[0] : all.find(({ scope }) => scope.pid === pid);
      if (community === undefined && pid !== "") return yield* new BadRequest({ problem: "not_found" });
      return { all, community };
    }),

    /** @param pid not validated yet */
    find: Effect.fnUntraced(function* (visitor: OwnerVisitor, pid: string) {
      const all = yield* scopes.list(visitor.owner.account);
      const owned = all.find(({ scope }) => scope.pid === pid);
      return yield* owned === undefined ? new BadRequest({ problem: "not_found" }) : named(visitor, owned);
    }),
  };
});
