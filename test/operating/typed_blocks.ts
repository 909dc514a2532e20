/** Tests the numbered steps of docs/operating.md. Each step has a block of commands and a block of their output. */
import { expect } from "vitest";
import { blocksOf, patternOf, readDocument } from "../docs/document.ts";
import type { Shell } from "../docs/shell.ts";

export const stepsOf = (heading: string): ReadonlyArray<string> => {
  const sections = readDocument("docs/operating.md").split(/^(?=## )/m);
  const section = sections.find((text) => text.startsWith(`## ${heading}\n`)) ?? "";
  return section.split(/^(?=\d+\. )/m).slice(1);
};

/** Enters the command block of a documented step in a shell, and expects the documented output. */
const typeStep = async (shell: Shell, step: string, here: (text: string) => string): Promise<void> => {
  const blocks = blocksOf(step);
  expect([step, ...blocks.map(({ language }) => language)]).toEqual([step, "sh", "text"]);
  const [block = "", documented = ""] = blocks.map(({ text }) => here(text));
  const printed = await shell.type(block);
  expect(printed, `${block}\nprinted\n${printed}`).toMatch(patternOf(documented));
};

/** Types steps one after the other. A failure shows the journal too. */
export const typeSteps = async (
  shell: Shell,
  steps: ReadonlyArray<string>,
  here: (text: string) => string,
  journal: () => string,
): Promise<void> => {
  for (const step of steps) {
    await typeStep(shell, step, here).catch((error: Error) => {
      throw new Error(`${error.message}\n${journal()}`);
    });
  }
};

/**
 * Fills in the variables of the platform applications: replaces the placeholders `<…>`, and inserts missing variables
 * after the line `ACCOUNTLINK_PLATFORM=live`.
 */
export const withApplications = (
  block: string,
  { ACCOUNTLINK_PLATFORM: _, ...applications }: Readonly<Record<string, string>>,
): string => {
  const named = Object.entries(applications).filter(([name]) => !block.includes(`${name}=`));
  return block
    .replaceAll(/^(ACCOUNTLINK_\w+)=<.+>$/gm, (_line, name: string) => `${name}=${applications[name]}`)
    .replace("=live\n", ["=live", ...named.map(([name, value]) => `${name}=${value}`), ""].join("\n"));
};
