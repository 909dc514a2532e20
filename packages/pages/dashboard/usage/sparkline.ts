/** The recent requests of a key as a small inline chart. */
import type { UsageDay } from "@accountlink/core/usage";
import { type Html, html } from "../../html.ts";
import { numberText } from "../look/time.ts";
import { daySum, requestsOf } from "./usage_totals.ts";

const height = 20;
const step = 10;

/** Shows one bar per day, oldest first, and the total count. Screen readers announce the count of each day. */
export const sparkline = (days: ReadonlyArray<UsageDay>): Html => {
  const requests = days.map((usage) => requestsOf(daySum(usage)));
  const scale = height / Math.max(1, ...requests);
  const bars = requests.flatMap((count, index) => (count === 0 ? [] : [bar(index, count * scale)]));
  return html`
<span><svg class="spark" viewBox="0 0 ${days.length * step} ${height}" preserveAspectRatio="none" role="img" aria-label="By day, oldest first: ${requests.map(numberText).join("; ")}">${bars}</svg>
${numberText(requests.reduce((sum, count) => sum + count, 0))}</span>`;
};

const bar = (index: number, size: number): Html =>
  html`<rect x="${index * step}" y="${(height - size).toFixed(1)}" width="${step - 2}" height="${size.toFixed(1)}"/>`;
