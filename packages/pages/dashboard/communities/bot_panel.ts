/** The message of the bot's command `panel`, as members will see it, and whether the bot answers. */
import { guildOf, type Pid } from "@accountlink/core";
import { RolePlanStore } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { ChatSettings, longestPanelText, makeCommunity } from "../../chat/mod.ts";
import { type Html, html } from "../../html.ts";
import { Languages } from "../../languages/mod.ts";
import { copyable } from "../look/copyable.ts";
import { textField } from "../look/field.ts";
import { communityPath, rolesPath } from "../paths.ts";
import type { Community } from "./community.ts";

export interface PanelView {
  readonly name: string;
  /** The text that the owner typed, or an empty text. */
  readonly text: string;
  /** The text of the message if the owner types none. */
  readonly sentence: string;
  readonly verify: { readonly label: string; readonly url: string };
  readonly roles: string;
  /** Whose rules for roles make the bot answer in the guild. */
  readonly answersFor: "this list" | "another list" | "nobody";
  /** Whether the service answers commands at all. */
  readonly isOn: boolean;
}

export const makePanelView = Effect.gen(function* () {
  const community = yield* makeCommunity;
  const plans = yield* RolePlanStore;
  const { isOn } = yield* ChatSettings;
  const language = yield* (yield* Languages).get("en");

  return Effect.fnUntraced(function* (place: Parameters<typeof community.verifyUrl>[0], text: string) {
    const home = Option.getOrNull(yield* plans.findOn(place.guildId));
    const view: PanelView = {
      name: yield* community.displayName(place),
      text: text.trim().slice(0, longestPanelText),
      sentence: language.text("chat.panel.ask", { game: community.game(language) }),
      verify: { label: language.text("chat.verify.start"), url: community.verifyUrl(place) },
      roles: language.text("chat.verify.roles"),
      answersFor:
        home === null ? "nobody" : home.scope.pid === place.scope.pid ? "this list" : "another list",
      isOn,
    };
    return view;
  });
});

/** @param hasBot whether the bot is in the guild */
export const panelSection = (
  { scope }: Pick<Community, "scope">,
  view: PanelView,
  hasBot: boolean,
): Html | null => {
  if (guildOf(scope) === null) return null;
  const { name, text, sentence, verify, roles } = view;
  return html`
<section id="panel">
<h2>The panel</h2>
${answersHtml(scope.pid, view, hasBot)}
<form method="get" action="${communityPath(scope.pid)}#panel" class="panel">
${textField({ name: "text", label: "Text of the panel", hint: `At most ${longestPanelText} characters. If empty: ${sentence} It is not stored: enter it as the command's text.`, value: text, maxLength: longestPanelText, problems: [] })}
<p class="row"><button class="button quiet">Show the panel</button></p>
</form>
<figure class="panel">
<figcaption>What members will see</figcaption>
<p><strong>${name}</strong><br>${text || sentence}</p>
<p class="row"><a class="button" href="${verify.url}">${verify.label}</a> <span class="button quiet">${roles}</span></p>
</figure>
<p>To post a message by hand, use this link:</p>
${copyable("panel-link", "link", verify.url)}
</section>`;
};

const answersHtml = (pid: Pid, { answersFor, isOn }: PanelView, hasBot: boolean): Html => {
  if (!isOn) return html`<p>The bot answers no commands: the operator turned them off.</p>`;
  if (!hasBot)
    return html`<p>The bot does not answer here, since it is not known to be in the community.</p>`;
  if (answersFor === "nobody")
    return html`<p>The bot tells members that linking is not set up here, until <a href="${rolesPath(pid)}">roles</a> are turned on.</p>`;
  if (answersFor === "another list")
    return html`<p>The bot answers here with another list, whose rules for roles are on. Its panel leads to that list.</p>`;
  return html`<p>The bot answers here. Type <code>/panel</code> in a channel that everybody can see, and the bot posts this message.</p>`;
};
