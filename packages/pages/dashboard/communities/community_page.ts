/** The page of one community: its verify link, the texts for its users, and the bot. */
import { ChatPlatform, GamePlatform, guildOf } from "@accountlink/core";
import { makeAskingName } from "@accountlink/core/communities";
import { noSettings } from "@accountlink/core/keys";
import type { LinkProof } from "@accountlink/core/links";
import { type LinkWays, OwnedScopes } from "@accountlink/core/owners";
import { featuresOf } from "@accountlink/core/platforms";
import { Effect, Record } from "effect";
import { formTo, type Html, html, to } from "../../html.ts";
import { copyable, qrCode } from "../look/copyable.ts";
import { checkField, fieldsOf, textField } from "../look/field.ts";
import { communityName, linksText, listText } from "../look/names.ts";
import type { Problem } from "../look/reasons.ts";
import { refusedFor } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { counted, numberText } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page, Visitor } from "../page.ts";
import { channelsPath, communityPath, deleteDataPath, may, paths, rolesPath, withQuery } from "../paths.ts";
import { makePreview } from "../preview.ts";
import { type Community, verifyUrl } from "./community.ts";
import { addBot, botStep, firstSteps, isReachable, makeFirstSteps, rightsLink } from "./first_steps.ts";

/** The labels of the texts that owners set for their users. */
export const saidLabels = {
  displayName: "Name of your community",
  supportUrl: "Help page",
  doneText: "Message at the end",
} as const;

/** The labels of how old accounts must be to link. */
export const ageLabels = {
  minGameAgeDays: "Days that a game account must exist",
  minChatAgeDays: "Days that a chat account must exist",
} as const;

export type AgeForm = Readonly<Record<keyof typeof ageLabels, string>>;

export type SaidForm = Readonly<Record<keyof typeof saidLabels, string>>;

/** Texts that are left empty are removed. */
const settingsOf = (said: SaidForm) => Record.map(said, (text) => text || null);

/** Returns a function that collects the data for the page of a community. */
export const makeCommunityView = Effect.gen(function* () {
  const stepsOf = yield* makeFirstSteps;
  const { commands } = yield* ChatPlatform;
  const askingName = yield* makeAskingName;
  const preview = yield* makePreview;
  const { counts } = yield* OwnedScopes;
  const game = yield* GamePlatform;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: Community, said: SaidForm) {
    const { scope, guildName } = community;
    const guildId = guildOf(scope);
    const set = settingsOf(said);
    const texts = { ...noSettings, ...set, displayName: yield* askingName(scope, { ...set, guildName }) };
    return {
      ...(yield* stepsOf(visitor, community)),
      ways: yield* counts.waysOf(scope.pid),
      /** Whether the game platform tells how old accounts are. */
      hasGameAges: (yield* featuresOf(game)).ages,
      /** The page where owners try the commands of the bot as a member; null on platforms for real members. */
      tryUrl: guildId === null ? null : (commands?.tryUrl?.(guildId) ?? null),
      /** The pages of the verification with the typed texts. */
      previews: [
        { title: "the beginning", document: preview("begin", texts, visitor) },
        { title: "the end", document: preview("done", texts, visitor) },
      ],
    };
  });
});

type CommunityView = Effect.Success<ReturnType<Effect.Success<typeof makeCommunityView>>>;

export const communityPage = (
  view: CommunityView,
  form: SaidForm,
  ages: AgeForm,
  asksAgain: boolean,
  visitor: Pick<Visitor, "platforms" | "role" | "scopes">,
  problems: ReadonlyArray<Problem>,
): Page => {
  const { community } = view;
  const { scope, links, keys } = community;
  const isNew = links.count === 0;
  const of = fieldsOf(saidLabels, form, problems);
  return {
    title: communityName(community),
    section: "communities",
    refused: refusedFor(problems),
    labels: { ...saidLabels, ...ageLabels },
    content: html`
<p><a href="${to(withQuery(paths.links, { pid: scope.pid }))}">${linksText(links)}</a> ·
<a href="${to(paths.keys)}">${counted(keys, "key")}</a></p>
${isNew ? html`<section><h2>Your first verified user</h2>${firstSteps(view)}</section>` : null}
${linkSection(view)}
${isNew ? null : waysSection(view.ways, visitor)}
<section id="says">
<h2>What your users see</h2>
<div class="beside">
${formTo(communityPath(scope.pid), html` class="panel" id="said"`)}
${textField({
  ...of("displayName"),
  hint: `The name that users know. If empty, ${scope.kind === "guild" ? "its name" : "the name of the owner"} on ${visitor.platforms.chat} is shown.`,
  maxLength: 80,
})}
${textField({
  ...of("supportUrl"),
  hint: "Where users get help: an address that begins with https://, such as an invite to your help channel.",
  maxLength: 2_000,
})}
${textField({
  ...of("doneText"),
  hint: "What users should do next, in one or two sentences. Example: You get your role within a minute.",
  maxLength: 300,
})}
<p class="row"><button class="button">Save</button> <button class="button quiet" name="act" value="preview">Update the preview</button></p>
</form>
<div class="frames" data-previews="said">${view.previews.map(
      ({ title, document }) => html`<iframe title="Preview: ${title}" srcdoc="${document}" sandbox></iframe>`,
    )}</div>
</div>
</section>
${admissionSection(view, ages, asksAgain, visitor, problems)}
<section>
<h2>Roles and names</h2>
<p>The bot can give roles and nicknames to members who linked. <a href="${to(rolesPath(scope.pid))}">Choose roles</a></p>
</section>
<section id="panel">
<h2>Log and panel</h2>
<p>The bot can post the panel with which members link, and tell your team in a channel who linked and who did not get
in. <a href="${to(channelsPath(scope.pid))}">Choose channels</a></p>
</section>
<section>
<h2>The bot</h2>
${botHtml(view)}
</section>

${may(
  visitor,
  deleteDataPath(":pid"),
  html`<p class="more"><a class="bad" href="${to(deleteDataPath(scope.pid))}">Delete the data of this list</a></p>`,
)}`,
  };
};

/** How links were confirmed, in the order in which the page counts them. */
export const wayLabels = (chat: string, game: string) =>
  [
    ["connection", say("community.way.connection", { chat })],
    ["oauth", say("community.way.oauth", { game })],
    ["words", say("community.way.words", { game })],
    ["session", say("community.way.session")],
    ["known", say("community.way.known")],
    ["hand", say("community.way.hand")],
    ["import", say("community.way.import")],
    [null, say("community.way.unknown")],
  ] as const satisfies ReadonlyArray<readonly [LinkProof, Html]>;

const waysSection = (byWay: LinkWays | null, { platforms }: Pick<Visitor, "platforms">): Html => html`
<section id="ways">
<h2>How accounts were linked</h2>
${
  byWay === null
    ? html`<p data-live>Many links are being counted. Look again in a minute.</p>`
    : html`<dl class="figures">${wayLabels(platforms.chat, platforms.game)
        .map(([way, label]) => [label, byWay.ways.get(way) ?? 0] as const)
        .filter(([, count]) => count > 0)
        .map(([label, count]) => html`<div><dt>${label}</dt><dd>${numberText(count)}</dd></div>`)}</dl>`
}
</section>`;

const ageHint = (platform: string): string =>
  `Users with a younger account on ${platform} are told from when on they can link it. If empty, every account may. Links that are there stay.`;

const admissionSection = (
  { community, hasGameAges }: CommunityView,
  ages: AgeForm,
  asksAgain: boolean,
  { platforms }: Pick<Visitor, "platforms">,
  problems: ReadonlyArray<Problem>,
): Html => {
  const { pid } = community.scope;
  const of = fieldsOf(ageLabels, ages, problems);
  return html`
<section id="admission">
<h2>Who may link</h2>
${formTo(communityPath(pid), html` class="panel"`)}
${hasGameAges || ages.minGameAgeDays !== "" ? textField({ ...of("minGameAgeDays"), hint: ageHint(platforms.game), maxLength: 4 }) : null}
${textField({ ...of("minChatAgeDays"), hint: ageHint(platforms.chat), maxLength: 4 })}
${checkField("freshProof", "Everybody proves the account here. Otherwise, who has proven it to another community on this service within half a year and is linked there still links it here with one press; neither community is told of the other.", asksAgain)}
<p class="row"><button class="button" name="act" value="ages">Save</button></p>
</form>
<p class="more"><a href="${to(withQuery(paths.blocks, { pid }))}">Blocked users</a></p>
</section>`;
};

const linkSection = ({ community, publicUrl, rolesOn }: CommunityView): Html => {
  const url = verifyUrl(publicUrl, community.scope);
  return html`
<section>
<h2>Verify link</h2>
${
  !isReachable(community, rolesOn)
    ? html`<p>The link works as soon as <a href="${to(rolesPath(community.scope.pid))}">linking is on</a>, with roles or
      without, or a program of yours has an active <a href="${to(paths.newKey)}">key</a>.</p>`
    : html`
<div class="beside">
<div>
<p>Anyone who opens this link can link their own accounts. The link is stored in ${listText(community)}. The address never changes.</p>
${copyable("verify-link", "link", url)}
${originsHtml(community)}
</div>
${qrCode(url, "QR code of the verify link")}
</div>`
}
</section>`;
};

const originsHtml = ({ redirectOrigins }: Community): Html =>
  redirectOrigins.length === 0
    ? html`<p>With <code>&redirect=</code> and an address after it, the link can lead users on to a site of yours. Enter
      the site at one of the <a href="${to(paths.keys)}">keys</a> first: a link to any other site is refused.</p>`
    : html`
<p>With <code>&redirect=</code> and an address after it, the link leads users on to one of these sites. A link to any
other site is refused; the <a href="${to(paths.keys)}">keys</a> list them.</p>
<ul>${redirectOrigins.map((origin) => html`<li>${origin}</li>`)}</ul>`;

const botHtml = (view: CommunityView): Html => {
  const { tryUrl, rolesOn } = view;
  if (guildOf(view.community.scope) === null) return botStep(view);
  const guild = guildIn(view);
  if (guild === undefined) return html`<p>It is unknown whether the bot is in this community.</p>`;
  return guild.bot
    ? html`<p><span class="badge good">In the community</span> The bot can check who is a member.${
        rolesOn
          ? html` Members type <code>/verify</code>, and managers <code>/panel</code> to post a button.`
          : null
      }</p>
${rolesOn && tryUrl !== null ? html`<p><a href="${to(tryUrl)}">Try it as a member</a></p>` : null}
${rightsLink(view)}`
    : html`<p><span class="badge bad">Not in the community</span> Lookups with keys of this community are refused until the bot is back.</p>
${addBot(view)}`;
};

const guildIn = ({ community, guilds }: CommunityView) =>
  (guilds ?? []).find(({ guildId }) => guildId === guildOf(community.scope));
