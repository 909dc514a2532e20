/** What the pages say of the reasons with which core refuses a value. */
import { type Html, html } from "../../html.ts";
import { type DashboardKey, inLanguage } from "./say.ts";

/** A field with a wrong value, and the reason: in the words of core, or of the page. */
export interface Problem {
  readonly name: string;
  readonly reason: string | Html;
}

type ReasonKey = Extract<DashboardKey, `reason.${string}` | "refused.nobody">;

/** The messages about reasons of core, by the form of the reason. Its groups are the values of the message. */
const reasons: ReadonlyArray<readonly [of: RegExp, key: ReasonKey]> = [
  [/^nobody was found with this ID or user name$/, "refused.nobody"],
  [/^someone else decides about your own accounts$/, "reason.own_accounts"],
  [/^expected at most (?<count>\d+) characters$/, "reason.characters"],
];

/** Returns a reason in the language of the page, or else as core says it, marked as English. */
export const reasonHtml = (reason: string | Html): Html =>
  typeof reason !== "string"
    ? reason
    : inLanguage(({ tag, say }) => {
        for (const [of, key] of reasons) {
          const found = of.exec(reason);
          if (found === null) continue;
          return say(key, { ...found.groups, count: Number(found.groups?.["count"] ?? 0) });
        }
        return tag === "en" ? html`${reason}` : html`<span lang="en" dir="ltr">${reason}</span>`;
      });
