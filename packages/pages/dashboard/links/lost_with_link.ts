/** What members lose besides the link when somebody unlinks them. */
import type { Pid } from "@accountlink/core";
import type { StoreUnavailable } from "@accountlink/core/errors";
import { Profiles } from "@accountlink/core/platforms";
import { givesSomething, RolePlanStore } from "@accountlink/core/roles";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { guildText } from "../look/names.ts";
import { say, separated } from "../look/say.ts";

/** At most this many communities are named. */
const mostNamed = 5;

/** Returns a function that says what the bot takes back in the communities of lists; null if it gives nothing there. */
export const makeLostWithLink = Effect.gen(function* () {
  const plans = yield* RolePlanStore;
  const profiles = yield* Profiles;

  return Effect.fnUntraced(function* (
    pids: ReadonlyArray<Pid>,
  ): Effect.fn.Return<Html | null, StoreUnavailable> {
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
});
