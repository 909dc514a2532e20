/** The nicknames from before the rules: a file to download, and a way to put them back. */
import type { ScopedGuild } from "@accountlink/core/communities";
import { type NicknameBefore, type PlanDetails, type RolePlans, templatesOf } from "@accountlink/core/roles";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { pagedCsv } from "../csv_file.ts";
import { say } from "../look/say.ts";
import { historyPath, nicknamesPath, rolesPath, withQuery } from "../paths.ts";

const pageSize = 1_000;

export interface NicknamesView {
  readonly kept: number;
  readonly isRunning: boolean;
}

export const nicknamesView = Effect.fnUntraced(function* (plans: RolePlans["Service"], guild: ScopedGuild) {
  const isRunning = yield* plans.isPuttingBack(guild);
  const kept = yield* plans.countNicknamesBefore(guild);
  return { kept, isRunning } satisfies NicknamesView;
});

/** Leads to the list of what the rules did, which also says what can be given back. */
export const historySection = ({ scope, guildId }: PlanDetails["plan"]): Html => {
  const address = withQuery(historyPath(scope.pid), { guildId });
  return section(say("roles.history"), "history")`
<p>${say("roles.history.text")} <a href="${to(address)}">${say("roles.history.open")}</a></p>`;
};

export const nicknamesSection = (
  { kept, isRunning }: NicknamesView,
  { plan }: Pick<PlanDetails, "plan">,
): Html | null => {
  const { scope, guildId } = plan;
  if (kept === 0) return null;
  const file = html`<p><a href="${to(withQuery(nicknamesPath(scope.pid), { guildId }))}">${say("roles.before.file")}</a></p>`;
  return section(say("roles.before"), "nicknames")`
<p>${say("roles.before.text")}</p>
${file}
${
  isRunning
    ? html`<p data-live="10">${say("roles.before.running", { count: kept })}</p>`
    : plan.state === "on" && templatesOf(plan).length > 0
      ? html`<p>${say("roles.before.first")}</p>`
      : formTo(withQuery(rolesPath(scope.pid), { guildId }), { guildId })`
<p>${say("roles.before.keep")}</p>
<p class="row"><button class="button quiet" name="act" value="putBack">${say("roles.before.button", { count: kept })}</button></p>`
}`;
};

export const nicknamesFile = (plans: RolePlans["Service"], guild: ScopedGuild) =>
  pagedCsv(
    ["chatId", "before", "byTheRules", "replacedAt"],
    (last: NicknameBefore | null) => plans.nicknamesBefore(guild, last?.chatId ?? null, pageSize),
    ({ chatId, nickname, given, at }) => [chatId, nickname, given, formatTimestamp(at)],
  );
