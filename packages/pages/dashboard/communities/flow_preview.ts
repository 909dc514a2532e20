/** The section Preview: the pages of the verification as users see them, with made-up accounts. */
import { ChatId, GameId, SessionSettings, Sid } from "@accountlink/core";
import type { FlowView } from "@accountlink/core/flow";
import { noSettings, type ScopeSettings } from "@accountlink/core/keys";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { cancelledPage, donePage, flowPage } from "../../flow/pages.ts";
import { namedRefusalPage, type RefusalName, refusals, refusalTitle } from "../../flow/refusals.ts";
import { footerHtml } from "../../footer.ts";
import { type Html, html, to } from "../../html.ts";
import { documentOf, type Page as FlowPage } from "../../page.ts";
import { makePlaceFor } from "../../page_render.ts";
import { PageSettings } from "../../page_settings.ts";
import { partIn, plain, say, wordingOf } from "../look/say.ts";
import { makeOwnerName, type OwnerPages, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

export const previewRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const ownerName = yield* makeOwnerName;
  const preview = yield* makePreview;
  return [
    page(paths.preview, function* (visitor, query) {
      const groups = previewGroups(visitor);
      const states = groups.flatMap((group) => group.states);
      const shown = states.find(({ name }) => name === query("state")) ?? {
        name: "begin",
        title: say("flow.begin"),
      };
      const said = { ...noSettings, displayName: yield* ownerName(visitor.owner) };
      return {
        title: say("menu.preview"),
        section: "preview",
        content: html`
<p>${say("flow.intro")}</p>
<div class="preview">
<nav aria-label="${plain(say("flow.pages"))}">
${groups.map((group) => groupHtml(group, shown))}
</nav>
<iframe id="shown" title="${plain(shown.title)}" srcdoc="${preview(shown.name, said, visitor)}" sandbox></iframe>
</div>`,
      } satisfies Page;
    }),
  ];
});

interface PreviewGroup {
  readonly label: Html;
  readonly states: ReadonlyArray<{ readonly name: string; readonly title: string | Html }>;
}

const groupHtml = ({ label, states }: PreviewGroup, shown: PreviewGroup["states"][number]): Html => html`
<details${states.some(({ name }) => name === shown.name) ? html` open` : null}>
<summary><h2>${label}</h2></summary>
<ul role="list">
${states.map(
  ({ name, title }) =>
    html`<li><a href="${to(withQuery(paths.preview, { state: name }))}#shown"${name === shown.name ? html` aria-current="page"` : null}>${title}</a></li>`,
)}
</ul>
</details>`;

const minutes = 60_000;
const sid = Sid.make(`vs_${"0".repeat(43)}`);
const entry = { sid };

const unknown = { avatar: null, created: null, banner: null, guild: null, description: null };
const unknownOfGame = { isBanned: null, hasVerifiedBadge: null, badges: null, groups: null };
const chatProfile: ChatProfile = { ...unknown, id: "100001", username: "ada", displayName: "Ada" };
const chat = { id: ChatId.make(chatProfile.id), profile: chatProfile };

const gameAccount = (id: string, displayName: string) => {
  const username = displayName.toLowerCase();
  const profile: GameProfile = { ...unknown, ...unknownOfGame, id, username, displayName };
  return { id: GameId.make(id), profile };
};
const game = gameAccount("1", "Knight");
const replaces = gameAccount("2", "Pawn");

type Proven = Pick<FlowView, "chat" | "game" | "replaces">;

const flowStates: Readonly<Record<string, { readonly title: Html; readonly proven: Proven }>> = {
  begin: { title: say("flow.begin"), proven: { chat: null, game: null, replaces: null } },
  half: { title: say("flow.half"), proven: { chat, game: null, replaces: null } },
  confirm: { title: say("flow.confirm"), proven: { chat, game, replaces: null } },
  choice: { title: say("flow.choice"), proven: { chat, game, replaces } },
};

const previewGroups = ({ context: { language } }: OwnerVisitor): ReadonlyArray<PreviewGroup> => [
  {
    label: say("flow.steps"),
    states: [
      ...Object.entries(flowStates).map(([name, { title }]) => ({ name, title })),
      { name: "done", title: say("flow.done") },
      { name: "cancelled", title: say("flow.cancelled") },
    ],
  },
  {
    label: say("flow.refusals"),
    states: (Object.keys(refusals) as ReadonlyArray<RefusalName>).map((name) => ({
      name: `refused-${name}`,
      title: partIn(wordingOf(language), refusalTitle(name)),
    })),
  },
];

/** The texts that the owner set for users, and the name of the community. */
interface SaidToUsers extends ScopeSettings {
  readonly displayName: string;
}

export const makePreview = Effect.gen(function* () {
  const settings = yield* PageSettings;
  const placeFor = yield* makePlaceFor;
  const { sightingRetention } = yield* SessionSettings;

  return (name: string, said: SaidToUsers, { context: { language, requestId } }: OwnerVisitor): string => {
    const page = pageOf(name, said, sightingRetention);
    // The base makes every link open a new window. The sandbox of the frame forbids new windows, so the links do
    // nothing.
    const head = html`<base target="_blank">`;
    const footer = footerHtml(language, settings, requestId);
    return documentOf(page, language, footer, head).at(placeFor(language));
  };
});

const pageOf = (name: string, said: SaidToUsers, kept: Millis): FlowPage => {
  if (name === "done") {
    const ended = { entry, guildId: null, redirect: null };
    const linked = { linkChanged: true, kept: false, doneText: said.doneText };
    return donePage({ ...ended, chat, game, ...linked });
  }
  if (name === "cancelled") return cancelledPage({ entry, guildId: null, redirect: null });
  const state = flowStates[name];
  if (state === undefined) return namedRefusalPage(name.replace("refused-", "") as RefusalName, entry, said);
  const view: FlowView = {
    entry,
    sid,
    asking: said.displayName,
    supportUrl: said.supportUrl,
    guild: null,
    redirect: null,
    expiresAt: 5 * minutes,
    csrf: "",
    gameProof: null,
    takenFrom: null,
    ways: ["oauth", "words"],
    needs: null,
    known: [],
    connections: [],
    named: null,
    player: null,
    ...state.proven,
  };
  return flowPage(view, kept, 0);
};
