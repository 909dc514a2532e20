/** The pages of the verification flow with made-up accounts, rendered by the flow's own functions. */
import { ChatId, GameId, Sid } from "@accountlink/core";
import type { FlowView } from "@accountlink/core/flow";
import type { ScopeSettings } from "@accountlink/core/keys";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { cancelledPage, donePage, type FlowReader, flowPage } from "../../flow/pages.ts";
import { namedRefusalPage, type RefusalName, refusals } from "../../flow/refusals.ts";
import { footerHtml } from "../../footer.ts";
import { html } from "../../html.ts";
import type { Language } from "../../languages/language.ts";
import { documentOf, type Page } from "../../page.ts";
import type { PreviewedState, PreviewGroup } from "./preview_page.ts";

const minutes = 60_000;
const sid = Sid.make(`vs_${"0".repeat(43)}`);
const entry = { sid };

const chatProfile: ChatProfile = {
  id: "100001",
  username: "ada",
  displayName: "Ada",
  avatar: null,
  banner: null,
  created: null,
  guild: null,
};
const chat = { id: ChatId.make("100001"), profile: chatProfile };

const gameAccount = (id: string, displayName: string) => {
  const profile: GameProfile = {
    id,
    username: displayName.toLowerCase(),
    displayName,
    description: null,
    created: null,
    isBanned: null,
    hasVerifiedBadge: null,
    avatar: null,
    badges: null,
    groups: null,
  };
  return { id: GameId.make(id), profile };
};
const game = gameAccount("1", "Knight");
const replaces = gameAccount("2", "Pawn");

const firstState = { name: "begin", title: "The beginning" };

type Proven = Pick<FlowView, "chat" | "game" | "replaces">;

const flowStates: Readonly<Record<string, { readonly label: string; readonly proven: Proven }>> = {
  begin: { label: firstState.title, proven: { chat: null, game: null, replaces: null } },
  half: { label: "One account proven", proven: { chat, game: null, replaces: null } },
  confirm: { label: "Both accounts proven", proven: { chat, game, replaces: null } },
  choice: { label: "Linked to another account", proven: { chat, game, replaces } },
};

const refusalNames = Object.keys(refusals) as ReadonlyArray<RefusalName>;

const endings = {
  done: "Linked",
  cancelled: "Cancelled by the user",
} as const;

export const previewGroups = (language: Language): ReadonlyArray<PreviewGroup> => [
  {
    label: "Steps",
    states: [
      ...Object.entries(flowStates).map(([name, { label }]) => ({ name, title: label })),
      ...Object.entries(endings).map(([name, title]) => ({ name: name, title })),
    ],
  },
  {
    label: "Refusals",
    states: refusalNames.map((name) => ({
      name: `refused-${name}`,
      title: language.text(`refusal.${name}.title`),
    })),
  },
];

/** Returns the state with this name; the first state for unknown names. */
export const stateOf = (groups: ReadonlyArray<PreviewGroup>, name: string): PreviewedState =>
  groups.flatMap(({ states }) => states).find((state) => state.name === name) ?? firstState;

/** The texts that the owner set for users, and the name of the community. */
export interface SaidToUsers extends ScopeSettings {
  readonly displayName: string;
}

export const previewDocument = (name: string, said: SaidToUsers, reader: FlowReader, requestId: string) => {
  const { language } = reader;
  const page = pageOf(name, said, reader);
  // This element makes every link open a new window. The sandbox of the frame forbids new windows, so the links do
  // nothing.
  return documentOf(
    page,
    language,
    footerHtml(language, reader, page, requestId),
    html`<base target="_blank">`,
  );
};

const pageOf = (name: string, said: SaidToUsers, reader: FlowReader): Page => {
  if (name === "done") {
    const ended = { entry, guildId: null, browser: null, redirect: null } as const;
    const linked = { linkChanged: true, kept: false, doneText: said.doneText };
    return donePage({ ...ended, chat, game, ...linked }, reader);
  }
  if (name === "cancelled") return cancelledPage({ entry, guildId: null, redirect: null }, reader);
  const state = flowStates[name];
  if (state === undefined)
    return namedRefusalPage(name.replace("refused-", "") as RefusalName, reader, entry);
  const view: FlowView = {
    entry,
    sid,
    asking: said.displayName,
    supportUrl: said.supportUrl,
    guild: null,
    redirect: null,
    expiresAt: 5 * minutes,
    csrf: "",
    ...state.proven,
  };
  return flowPage(view, reader, 0);
};
