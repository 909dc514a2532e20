/** The answers of the bot to its commands and buttons. */

import { type ChatId, type GuildId, LinkStore } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { makeAdmission } from "@accountlink/core/admission";
import { type Community, CommunityStore, isLinkingOn, placeOf } from "@accountlink/core/communities";
import type { Forbidden, PlatformUnavailable, StoreUnavailable } from "@accountlink/core/errors";
import { makeKnownAccounts } from "@accountlink/core/flow";
import { GuildLog } from "@accountlink/core/guild_log";
import { Idempotency } from "@accountlink/core/idempotency";
import { type ConfiguredScope, KeyStore } from "@accountlink/core/keys";
import { isByOwner, newestMembers } from "@accountlink/core/links";
import { OwnedLinks } from "@accountlink/core/owners";
import { featuresOf, GamePlatform, GuildGuard } from "@accountlink/core/platforms";
import { MemberSync, RolePlanStore } from "@accountlink/core/roles";
import { OwnLinks } from "@accountlink/core/users";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Clock, Effect, Option, Result } from "effect";
import type { Language } from "../languages/mod.ts";
import { makeCommunity } from "./community.ts";
import type { Interaction } from "./interaction.ts";
import { commandName, listings, panelName } from "./listings.ts";
import {
  type Button,
  type ButtonAction,
  dayText,
  type Message,
  plain,
  rolesText,
  timeText,
  userText,
} from "./message.ts";
import { longestPanelText, makePanelMessage } from "./panel.ts";

/** What a user asks in a guild with a home, whose rules may be paused. */
interface Asked extends Pick<Interaction, "chatId" | "channelId" | "locale" | "permissions" | "signature"> {
  readonly home: Community;
  readonly guildId: GuildId;
  /** The user that the command is about: by default, the user who asks. */
  readonly target: ChatId;
  readonly text: string | null;
  readonly language: Language;
  /** The language of the guild, for messages to everybody. */
  readonly guildLanguage: Language;
  readonly requestId: string;
}

type Failure = Forbidden | PlatformUnavailable | StoreUnavailable;

export type Answer = (asked: Asked) => Effect.Effect<Message, Failure>;

/** Makes the answer to a command or a button, with a span of this name. */
const answer = (
  name: string,
  body: (asked: Asked) => Generator<Effect.Effect<unknown, Failure>, Message, never>,
): Answer => Effect.fn(`chat.${name}`)(body);

interface Answers {
  readonly commands: Readonly<Record<string, Answer>>;
  readonly buttons: Readonly<Record<ButtonAction, Answer>>;
}

export const makeCommands = Effect.gen(function* () {
  const [verify, unlink, whois] = [yield* makeVerify, yield* makeUnlink, yield* makeWhois];
  const [update, panel, community] = [yield* makeUpdate, yield* makePanel, yield* makeCommunity];

  /** Members without a link read how to get one too, since most roles need it. What has changed is told in any case. */
  const roles = answer("roles", function* (asked) {
    const updated = yield* update(asked);
    const asking = Effect.map(verify(asked), (said) => ({
      ...said,
      content: `${updated.content}\n${said.content}`,
    }));
    const found = community.findLink(asked.home, asked.chatId);
    const both = Effect.flatMap(found, (link) => (link === null ? asking : Effect.succeed(updated)));
    return yield* Effect.orElseSucceed(both, () => updated);
  });

  const answers: Answers = {
    commands: {
      verify,
      unlink: unlink.ask,
      whois,
      "Linked account": whois,
      update,
      "Update roles": update,
      [panelName]: panel,
      help: yield* makeHelp,
    },
    buttons: { roles, unlink: unlink.ask, "unlink:yes": unlink.confirm },
  };
  return answers;
});

/** The longest URL of a button that the chat platform takes. */
const longestUrl = 512;

/** The button to the place where the community helps users, if it has one. */
const helpButtons = (
  { settings: { supportUrl } }: ConfiguredScope,
  language: Language,
): ReadonlyArray<Button> =>
  supportUrl === null || supportUrl.length > longestUrl
    ? []
    : [{ label: language.text("flow.help"), url: supportUrl }];

/** Shows members their linked account, and how to link one. */
const makeVerify = Effect.gen(function* () {
  const community = yield* makeCommunity;
  const keys = yield* KeyStore;
  const admission = yield* makeAdmission;
  const log = yield* GuildLog;

  const { find: knownTo } = yield* makeKnownAccounts;

  /** Says why a member cannot link; null if the member can. The verification asks about the game account. */
  const refusalOf = Effect.fnUntraced(function* (
    { chatId, language }: Asked,
    found: ConfiguredScope,
    name: string,
  ) {
    const refused = yield* admission.chat(found, chatId);
    if (refused === null) return null;
    yield* log.tellRefused(found.scope, { chatId, gameId: null }, refused);
    switch (refused.reason) {
      case "blocked":
        return language.text("chat.verify.blocked", { community: name });
      case "too_young":
        return language.text("chat.verify.too_young", { community: name, time: timeText(refused.from) });
      case "age_unknown":
        return language.text("chat.verify.age_unknown", { community: name });
    }
  });

  return answer("verify", function* (asked) {
    const { home, chatId, language } = asked;
    const [link, name] = yield* Effect.all([community.findLink(home, chatId), community.name(home)], {
      concurrency: "unbounded",
    });
    const url = community.verifyUrl(home);
    if (link === null) {
      const found = Option.getOrNull(yield* keys.findScopeByPid(home.scope.pid));
      const refusal = found && (yield* refusalOf(asked, found, name));
      if (found !== null && refusal !== null) {
        return { content: refusal, buttons: helpButtons(found, language) };
      }
      // The first account that the verification offers with one press.
      const [known] =
        found === null ? [] : yield* knownTo({ ...found, pid: found.scope.pid, gameId: null }, chatId);
      const label =
        known === undefined
          ? language.text("chat.verify.start")
          : language.text("flow.connection.use", { account: yield* community.accountName(known.id) });
      const needed = known === undefined ? yield* community.needed(language) : null;
      if (needed?.hasWay === false) {
        return { content: needed.text, buttons: [community.codeButton(language)] };
      }
      const ask = language.text("chat.verify.ask", { game: community.game(language), community: name });
      const content = needed === null ? ask : `${ask}${language.gap}${needed.text}`;
      return { content, buttons: [{ label, url }] };
    }
    const account = yield* community.account(link.gameId);
    const text = isByOwner(link.proof) ? "chat.verify.linked" : "chat.verify.known";
    const linked = language.text(text, { community: name, account, time: dayText(link.linkedAt) });
    return {
      content: `${linked}${community.proof(link, language)}`,
      buttons: [
        { label: language.text("chat.verify.roles"), action: "roles" },
        { label: language.text("chat.verify.other"), url },
        { label: language.text("chat.verify.unlink"), action: "unlink", isDangerous: true },
      ],
    };
  });
});

const makeUnlink = Effect.gen(function* () {
  const [links, idempotency, community] = [yield* OwnLinks, yield* Idempotency, yield* makeCommunity];

  const say = (text: "chat.unlink.none" | "chat.unlink.done", { home, language }: Asked) =>
    Effect.map(
      community.name(home),
      (name): Message => ({
        content: language.text(text, { game: community.game(language), community: name }),
      }),
    );

  const ask = answer("unlink", function* (asked) {
    const { home, chatId, language } = asked;
    const link = yield* community.findLink(home, chatId);
    if (link === null) return yield* say("chat.unlink.none", asked);
    return {
      content: language.text("chat.unlink.ask", { account: yield* community.account(link.gameId) }),
      buttons: [{ label: language.text("chat.unlink.yes"), action: "unlink:yes", isDangerous: true }],
    };
  });

  const confirm = answer("unlink:yes", function* (asked) {
    const { chatId, home, requestId, signature } = asked;
    const { pid } = home.scope;
    const press = { keyId: "chat", idempotencyKey: signature, content: { chatId, pid } } as const;
    // The counters of signatures end with the process, so the storage keeps the press with the removal.
    const removed = Effect.flatMap(idempotency.begin(press), ({ once, keep }) =>
      Effect.catchTag(links.remove(chatId, pid, requestId, { once }), "LinkNotFound", () => keep({})),
    );
    yield* Effect.catchTag(Effect.scoped(removed), "Conflict", () => Effect.void);
    return yield* say("chat.unlink.done", asked);
  });

  return { ask, confirm };
});

/** How many members `whois` names of one game account, the last linked first: as many as surely fit into a message. */
const mostNamed = 70;

/** Shows moderators the linked account of a member, or the members who are linked to a game account. */
const makeWhois = Effect.gen(function* () {
  const [members, guard] = [yield* MemberStore, yield* GuildGuard];
  const [links, store, platform] = [yield* OwnedLinks, yield* LinkStore, yield* GamePlatform];
  const membersOf = newestMembers(guard, store);
  const community = yield* makeCommunity;
  const { publicUrl } = yield* HttpSettings;

  /** The user's page on the dashboard, for members of the account. */
  const pageButton = Effect.fnUntraced(function* ({ home: { scope }, chatId, target, language }: Asked) {
    const memberships = yield* members.findByChatId(chatId);
    const isMember = memberships.some(
      ({ account, scopes, chosenAt }) =>
        account.name === scope.account && (scopes?.includes(scope.pid) ?? true) && chosenAt !== null,
    );
    const query = new URLSearchParams({ pid: scope.pid, chatId: target }).toString();
    const button: Button = {
      label: language.text("chat.whois.open"),
      url: `${publicUrl}/dashboard/links/user?${query}`,
    };
    return isMember ? [button] : [];
  });

  /** Names the members who are linked to a game account, which the user names by its ID or user name. */
  const ofGame = Effect.fnUntraced(function* (asked: Asked, typed: string) {
    const { home, language } = asked;
    const meant = yield* links.gamesMeant(typed.trim());
    const linked = yield* store.findByGameIds(home.scope.pid, meant, 1);
    const gameId = meant.find((id) => linked.has(id)) ?? meant[0];
    if (gameId === undefined) {
      const [name, game] = [plain(typed.trim()), community.game(language)];
      const why = (yield* featuresOf(platform)).names ? "unknown_game" : "no_names";
      return { content: language.text(`chat.whois.${why}`, { name, game }) };
    }
    const account = yield* community.account(gameId);
    const found = yield* membersOf(home.scope.pid, home.guildId, [gameId]);
    const present = yield* Effect.fromResult(found.get(gameId) ?? Result.succeed([]));
    const [target] = present;
    if (target === undefined) return { content: language.text("chat.whois.no_members", { account }) };
    const named = present.slice(0, mostNamed).map(userText);
    const users = (present.length > mostNamed ? [...named, "…"] : named).join(" ");
    return {
      content: language.text("chat.whois.members", { account, users }),
      buttons: present.length === 1 ? yield* pageButton({ ...asked, target }) : [],
    };
  });

  return answer("whois", function* (asked) {
    const { home, target, language, text } = asked;
    if (target === asked.chatId && text !== null) return yield* ofGame(asked, text);
    yield* guard.requireMember(home.guildId, target);
    const user = userText(target);
    const link = yield* community.findLink(home, target);
    const buttons = yield* pageButton(asked);
    if (link === null) return { content: language.text("chat.whois.none", { user }), buttons };
    const account = yield* community.account(link.gameId);
    const values = { user, account, time: dayText(link.linkedAt) };
    const linked = language.text(link.proof === null ? "chat.whois.verified" : "chat.whois.linked", values);
    return { content: `${linked}${community.proof(link, language)}`, buttons };
  });
});

/** The right of an administrator, who may use everything. */
const administrator = 1n << 3n;

/** Lists the commands that the member may use, as far as the guild has not changed who may use them. */
const makeHelp = Effect.map(makeCommunity, (community) =>
  answer("help", function* ({ home, language, locale, permissions: own }) {
    const lines = listings.flatMap((listing) => {
      const { texts, permission } = listing;
      const may = permission === null || (own & ((1n << BigInt(permission)) | administrator)) !== 0n;
      return texts.description === null || !may
        ? []
        : [`**/${commandName(listing, locale, language)}** ${language.text(texts.description)}`];
    });
    const title = language.text("chat.help", { community: yield* community.name(home) });
    return { content: [title, ...lines].join("\n") };
  }),
);

/** Gives a member the roles and the nickname that the plan wants. The button of members does the same. */
const makeUpdate = Effect.gen(function* () {
  const { sync } = yield* MemberSync;
  const plans = yield* RolePlanStore;
  return answer("update", function* ({ home, target, language }) {
    const plan = Option.getOrNull(yield* plans.find(placeOf(home)));
    if (plan === null || !isLinkingOn(home)) return { content: language.text("chat.sync.paused") };
    const user = userText(target);
    const { added, removed, nickname, settled } = yield* sync(plan, target);
    const lines: Array<string> = [];
    if (added.length > 0) lines.push(language.text("chat.sync.added", { roles: rolesText(added) }));
    if (removed.length > 0) lines.push(language.text("chat.sync.removed", { roles: rolesText(removed) }));
    if (nickname !== null)
      lines.push(language.text("chat.sync.nickname", { nickname: plain(nickname) || "–" }));
    if (lines.length > 0) lines.unshift(language.text("chat.sync.changed", { user }));
    // A problem without a chat user concerns the plan: the bot was refused no change.
    const problems = settled.problems.filter(({ chatId }) => chatId !== null);
    const refused = problems.flatMap(({ roleId }) => (roleId === null ? [] : [roleId]));
    if (refused.length > 0) lines.push(language.text("chat.sync.refused", { roles: rolesText(refused) }));
    if (refused.length < problems.length) lines.push(language.text("chat.sync.nickname_refused"));
    if (lines.length === 0 && settled.retryAt !== null) lines.push(language.text("chat.unavailable"));
    return { content: lines.join("\n") || language.text("chat.sync.same", { user }) };
  });
});

const makePanel = Effect.gen(function* () {
  const panelOf = yield* makePanelMessage;
  const store = yield* CommunityStore;

  return answer("panel", function* ({ home, channelId, chatId, text, language, guildLanguage, requestId }) {
    if (text !== null && text.length > longestPanelText) {
      return { content: language.text("chat.panel.too_long", { limit: longestPanelText }) };
    }
    const message = yield* panelOf(home, text, guildLanguage);
    const panel = { channelId: channelId ?? "?", messageId: null, text };
    yield* store.savePanel({
      ...placeOf(home),
      panel,
      actor: { type: "user", id: chatId },
      requestId,
      at: yield* Clock.currentTimeMillis,
    });
    return message;
  });
});
