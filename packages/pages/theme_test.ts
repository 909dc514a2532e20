import { expect, it } from "vitest";
import { theme } from "./theme.ts";

const luminance = (color: string): number => {
  const digits = color.length === 4 ? color.replaceAll(/[\da-f]/g, "$&$&") : color;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(digits.slice(start, start + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

it.each([
  ["light", theme.split("@media (prefers-color-scheme")[0]],
  ["dark", theme.split("@media (prefers-color-scheme")[1]],
])("every text of the %s theme has a contrast of at least 4.5", (_, block = "") => {
  const colors = new Map(
    [...block.matchAll(/--([\w-]+):(#[\da-f]+)/g)].map(([, name, value]) => [name, value]),
  );
  const pairs = ["text", "soft", "mark", "good", "warn", "bad"].flatMap((text) =>
    ["ground", "card", "wash"].map((under) => [text, under] as const),
  );
  const faint = [...pairs, ["on-mark", "mark"] as const].filter(
    ([text, under]) => contrast(colors.get(text) ?? "#000", colors.get(under) ?? "#000") < 4.5,
  );
  expect(faint).toEqual([]);
});
