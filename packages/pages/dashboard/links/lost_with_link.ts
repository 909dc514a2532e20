/** What members lose besides the link when somebody unlinks them, and whether the link can be put back. */
import { type ChatId, type GameId, LinkStore, type Pid } from "@accountlink/core";
import type { StoreUnavailable } from "@accountlink/core/errors";
import { Profiles } from "@accountlink/core/platforms";
import { givesSomething, makeLostWithLink as makeLostByMember, RolePlanStore } from "@accountlink/core/roles";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { guildText, platforms } from "../look/names.ts";
import { listOf, say, separated } from "../look/say.ts";

const mostNamed = 5;

/** Returns a function that says what the bot takes back in the communities of lists; null if it gives nothing there. */
export const makeLostWithLink = Effect.gen(function* () {
  const plans = yield* RolePlanStore;
  const profiles = yield* Profiles;
  const lostByMember = yield* makeLostByMember;

  const lostByAnybody = Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
    const planned = (yield* Effect.forEach(pids, (pid) => plans.list(pid))).flat();
    const giving = planned.filter((plan) => plan.state === "on" && givesSomething(plan));
    if (giving.length === 0) return null;
    const names = yield* Effect.forEach(giving.slice(0, mostNamed), ({ guildId }) =>
      Effect.map(profiles.guild(guildId), (guild) => guildText(guildId, guild?.name)),
    );
    const rest = giving.length - names.length;
    const communities = separated(names, ", ");
    return html`<p>${
      rest === 0 ? say("unlink.lost", { communities }) : say("unlink.lost_more", { communities, count: rest })
    }</p>`;
  });

  /** @param members the users who would be unlinked: of one alone, the roles are named */
  return Effect.fnUntraced(function* (
    pids: ReadonlyArray<Pid>,
    members: ReadonlyArray<{ readonly chatId: ChatId; readonly name: string }>,
  ): Effect.fn.Return<Html | null, StoreUnavailable> {
    const [one, ...others] = members;
    if (one === undefined || others.length > 0) return yield* lostByAnybody(pids);
    const found = yield* lostByMember(pids, one.chatId);
    return html`${found.map(({ guildId, guildName, lost }) => {
      const community = guildText(guildId, guildName);
      if (lost === null) return html`<p>${say("unlink.lost", { communities: community })}</p>`;
      const things = listOf([...lost.roles, ...(lost.nickname ? [say("unlink.nickname")] : [])]);
      return html`<p>${say("unlink.lost_one", { community, member: one.name, things })}</p>`;
    })}`;
  });
});

/** Says that a list allows one user of each game account. */
export const oneUserHtml = html`<p>${say("unlink.one_user", { platform: platforms.game })}</p>`;

/** Returns a function that says so before links go that keep each other from being put back; null if none do. */
export const makeOneUserNote = Effect.map(LinkStore, (store) =>
  Effect.fnUntraced(function* (
    { scope: { pid }, settings }: Community,
    links: ReadonlyArray<{ readonly link: { readonly gameId: GameId } }>,
  ) {
    if (!settings.oneChatUser) return null;
    const gameIds = [...new Set(links.map(({ link }) => link.gameId))];
    const users = yield* store.findByGameIds(pid, gameIds, 2);
    return [...users.values()].some(({ length }) => length > 1) ? oneUserHtml : null;
  }),
);
