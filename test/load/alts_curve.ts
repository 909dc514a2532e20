import type { calibrationOf } from "./alts_rates.ts";

const [width, height] = [640, 360];
const [left, top, right, bottom] = [56, 16, 16, 48];
const x = (score: number): number => round(left + (score / 100) * (width - left - right));
const y = (share: number): number => round(top + (1 - share) * (height - top - bottom));
const round = (value: number): number => Math.round(value * 10) / 10;

/** Readable on light and on dark ground. */
const [text, line] = ["#737b85", "#2f81f7"];

const severities = { LOW: 0, MEDIUM: 25, HIGH: 50, CRITICAL: 75 };

/** Score against the share of the accounts with it that have another one; a wider dot stands for more accounts. */
export const curveOf = (calibration: ReturnType<typeof calibrationOf>): string => {
  const points = calibration.flatMap(({ from, to, answers, share }) =>
    share === null ? [] : [{ x: x((from + to) / 2), y: y(share), radius: round(2 + Math.log10(answers)) }],
  );
  const quarters = [0, 0.25, 0.5, 0.75, 1];
  const label = "Score against the share of accounts with it that have another account";
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}" font-family="sans-serif" font-size="12" fill="${text}">`,
    `<title>${label}</title>`,
    ...quarters.flatMap((share) => [
      `<path d="M${x(0)} ${y(share)}H${x(100)}" stroke="${text}" stroke-opacity="0.3"/>`,
      `<text x="${left - 8}" y="${y(share) + 4}" text-anchor="end">${share * 100} %</text>`,
    ]),
    ...Object.entries(severities).flatMap(([severity, score]) => [
      `<path d="M${x(score)} ${y(0)}V${y(1)}" stroke="${text}" stroke-opacity="0.3"/>`,
      `<text x="${x(score)}" y="${height - bottom + 18}" text-anchor="middle">${score}</text>`,
      `<text x="${x(score + 12.5)}" y="${height - bottom + 36}" text-anchor="middle">${severity}</text>`,
    ]),
    `<text x="${x(100)}" y="${height - bottom + 18}" text-anchor="middle">100</text>`,
    `<path d="M${x(0)} ${y(0)}L${x(100)} ${y(1)}" stroke="${text}" stroke-dasharray="4 4"/>`,
    `<polyline points="${points.map((point) => `${point.x},${point.y}`).join(" ")}" fill="none" stroke="${line}" stroke-width="2"/>`,
    ...points.map((point) => `<circle cx="${point.x}" cy="${point.y}" r="${point.radius}" fill="${line}"/>`),
    "</svg>",
  ].join("\n")}\n`;
};
