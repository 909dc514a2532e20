/** Charts of usage by day, rendered by the server, and the sums that they show. */
import { addUsage, type UsageCounts, type UsageDay, type UsageGroup } from "@accountlink/core/usage";
import { Struct } from "effect";
import { counted, numberText } from "../../english_counts.ts";
import { type Html, html } from "../../html.ts";
import type { Column } from "../look/table.ts";
import { dayHtml } from "../look/time.ts";

const height = 100;
const barWidth = 8;
const step = 10;

/** Stacks the requests of each day, oldest day first: served at the bottom, then refused, then errors. */
export const barChart = (days: ReadonlyArray<UsageDay>): Html => {
  const bars = days.map((usage) => ({ day: usage.day, sum: daySum(usage) }));
  const highest = Math.max(...bars.map(({ sum }) => requestsOf(sum)));
  if (highest === 0) {
    return html`<p class="empty">There were no requests in the last ${counted(days.length, "day")}.</p>`;
  }
  const top = axisTop(highest);
  return html`
<figure class="chart">
<ul class="axis" role="list" aria-hidden="true"><li>${numberText(top)}</li><li>${numberText(top / 2)}</li><li>0</li></ul>
<svg viewBox="0 0 ${days.length * step} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="chart-name">
<title id="chart-name">Requests per day for ${counted(days.length, "day")}, at most ${numberText(highest)}</title>
<path class="grid" d="M0 0H${days.length * step}M0 ${height / 2}H${days.length * step}"/>
${bars.map(({ day, sum }, index) => bar(day, sum, index * step + (step - barWidth) / 2, height / top))}
</svg>
<figcaption>
${[0, Math.floor(days.length / 2), days.length - 1].map((index) => html`<span>${dayHtml(Date.parse(days[index]?.day ?? ""))}</span> `)}
</figcaption>
<ul class="legend" role="list">
${Object.entries(outcomes).map(([outcome, label]) => html`<li class="${outcome}">${label}</li>`)}
</ul>
</figure>`;
};

/** Rounds up to a number with at most two significant digits, the second of which is even, such as 4,600. */
const axisTop = (highest: number): number => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(highest)) - 1);
  return Math.ceil(highest / (2 * unit)) * 2 * unit;
};

const bar = (day: string, sum: UsageCounts, x: number, scale: number): Html => {
  let y = height;
  const part = (outcome: keyof UsageCounts): Html | null => {
    if (sum[outcome] === 0) return null;
    const size = sum[outcome] * scale;
    y -= size;
    return html`<rect class="${outcome}" x="${x}" y="${y.toFixed(2)}" width="${barWidth}" height="${size.toFixed(2)}"/>`;
  };
  return html`<g><title>${day}: ${counted(requestsOf(sum), "request")}</title>${part("served")}${part("refused")}${part("errors")}</g>`;
};

const sparkHeight = 20;

/** Shows one bar per day, oldest first, and the total count. Screen readers announce the count of each day. */
export const sparkline = (days: ReadonlyArray<UsageDay>): Html => {
  const requests = days.map((usage) => requestsOf(daySum(usage)));
  const scale = sparkHeight / Math.max(1, ...requests);
  const bars = requests.flatMap((count, index) => (count === 0 ? [] : [sparkBar(index, count * scale)]));
  return html`
<span><svg class="spark" viewBox="0 0 ${days.length * step} ${sparkHeight}" preserveAspectRatio="none" role="img" aria-label="By day, oldest first: ${requests.map(numberText).join("; ")}">${bars}</svg>
${numberText(requests.reduce((sum, count) => sum + count, 0))}</span>`;
};

const sparkBar = (index: number, size: number): Html =>
  html`<rect x="${index * step}" y="${(sparkHeight - size).toFixed(1)}" width="${step - 2}" height="${size.toFixed(1)}"/>`;

export const groups: Record<UsageGroup, string> = {
  lookup: "Lookups",
  bulk: "Bulk",
  write: "Writes",
  alts: "Alts",
  session: "Sessions",
};

const outcomes: Record<keyof UsageCounts, string> = {
  served: "Served",
  refused: "Over a limit",
  errors: "Errors",
};

export const groupNames = Struct.keys(groups);

export const outcomeColumns = <Row>(countsOf: (row: Row) => UsageCounts): ReadonlyArray<Column<Row>> =>
  Struct.keys(outcomes).map((outcome) => [
    outcomes[outcome],
    (row) => numberText(countsOf(row)[outcome]),
    "number",
  ]);

const none: UsageCounts = { served: 0, refused: 0, errors: 0 };

export const sumOf = (counts: ReadonlyArray<UsageCounts>): UsageCounts => counts.reduce(addUsage, none);

/** The counts of a day, summed over all groups, or only the counts of one group. */
export const daySum = ({ groups: counts }: UsageDay, group: UsageGroup | null = null): UsageCounts =>
  sumOf(group === null ? counts : counts.filter((count) => count.group === group));

export const countsOf = (days: ReadonlyArray<UsageDay>, group: UsageGroup | null = null): UsageCounts =>
  sumOf(days.map((usage) => daySum(usage, group)));

export const requestsOf = ({ served, refused, errors }: UsageCounts): number => served + refused + errors;
