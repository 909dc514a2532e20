/** What a user types in the form of an upload, with the questions about words and times whose meaning nobody knows. */
import type { OddWord, UnclearTime, UnclearTimeChoice, WordChoice } from "@accountlink/core/imports";
import { type Html, hiddenFields, html } from "../../html.ts";
import { radioField } from "../look/field.ts";
import { say } from "../look/say.ts";

export interface ImportForm {
  readonly pid: string;
  readonly onConflict: string;
  readonly named: Readonly<Record<"chatColumn" | "gameColumn" | "timeColumn" | "verifiedColumn", string>>;
  /** Columns that may say when or whether a link was verified. The user must name or ignore each of them. */
  readonly columns: ReadonlyArray<{ readonly name: string; readonly isIgnored: boolean }>;
  /** Words in columns of verification whose meaning the user chooses. */
  readonly words: ReadonlyArray<AskedWord>;
  /** How unclear times are read; null if that was not asked about. */
  readonly times: AskedTimes | null;
}

export interface AskedWord extends Pick<OddWord, "word"> {
  /** Where the file has the word; null if another choice was asked for meanwhile. */
  readonly place: Pick<OddWord, "column" | "rows"> | null;
  readonly choice: WordChoice | null;
}

export interface AskedTimes {
  /** The times of the file; none if they were answered before something else was asked. */
  readonly unclear: ReadonlyArray<UnclearTime>;
  readonly choice: UnclearTimeChoice | null;
}

export const timesField = ({ unclear, choice }: AskedTimes): Html => {
  const hasDates = unclear.length === 0 || unclear.some(({ isDate }) => isDate);
  const orders = [
    { value: "day-first", label: say("import.day_first"), hint: say("import.day_first.hint") },
    { value: "month-first", label: say("import.month_first"), hint: say("import.month_first.hint") },
  ];
  return radioField({
    name: "unclearTimes",
    label: say("import.times"),
    hint: html`${unclear.map(
      ({ isDate, column, time, rows }) =>
        html`${say(isDate ? "import.times.date" : "import.times.unreadable", { column, time, rows })} `,
    )}`,
    value: choice ?? "",
    choices: [
      ...(hasDates ? orders : []),
      { value: "unknown", label: say("import.no_date"), hint: say("import.no_time") },
    ],
  });
};

export const wordField = ({ word, place, choice }: AskedWord, index: number): Html => html`
${hiddenFields({ [`word${index}`]: word })}
${radioField({
  name: `meaning${index}`,
  label:
    place === null
      ? say("import.word", { word })
      : say("import.word_in", { word, column: place.column, rows: place.rows }),
  value: choice ?? "",
  choices: [
    { value: "yes", label: say("import.verified") },
    { value: "no", label: say("import.not_verified") },
    { value: "skip", label: say("import.skip"), hint: say("import.skip.hint") },
  ],
})}`;
