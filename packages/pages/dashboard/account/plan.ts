/** The account's plan, how it differs from Premium, and the operator's contact. */
import type { LimitSettings, TierLimits } from "@accountlink/core/limits";
import { contactHtml } from "../../footer.ts";
import { type Html, html } from "../../html.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText } from "../look/time.ts";
import type { Visitor } from "../page.ts";

interface PlanView {
  readonly limits: Pick<LimitSettings, "free" | "premium">;
  /** How owners reach the operator; null if unknown. */
  readonly contact: string | null;
}

export const planHtml = (
  { limits, contact }: PlanView,
  { tier }: Pick<Visitor["account"], "tier">,
): Html => html`
<section>
<h2>Plan</h2>
${tableHtml({
  id: "plan",
  caption: `Your plan is ${names[tier]}`,
  columns: ["What", ...[names.free, names.premium].map((label) => ({ label, isNumber: true }))],
  rows: [
    ...rows.map(([label, textOf]) => [label, textOf(limits.free), textOf(limits.premium)]),
    ["Alts: who may be the same person", "no", "yes"],
    ["Names and pictures in answers", "no", "yes"],
  ],
})}
${tier === "premium" ? null : html`<p>To get Premium, ask ${contact === null ? "whoever runs this service" : contactHtml(contact)}.</p>`}
</section>`;

const names = { free: "Free", premium: "Premium" } as const;

const orNone = (count: number): string => (count === 0 ? "no limit" : numberText(count));

const rows: ReadonlyArray<readonly [string, (limits: TierLimits) => string]> = [
  ["Keys", ({ keys }) => orNone(keys)],
  [
    "Requests of a key at once",
    ({ perWindow, windowMs }) =>
      perWindow === 0
        ? "no limit"
        : `${numberText(perWindow)} in ${windowMs === 1_000 ? "a second" : counted(windowMs / 1_000, "second")}`,
  ],
  ["Requests of a key a day", ({ daily }) => orNone(daily)],
  ["Verification requests of a key a day", ({ verifyDaily }) => orNone(verifyDaily)],
];
