import { Locale } from "discord-api-types/v10";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { PageSettings } from "../page_settings.ts";
import { commandBodies } from "./installation.ts";
import { chatLocales } from "./listings.ts";

/** The languages in which the chat platform gets the command to verify, with the names of the command. */
const namesOf = async (messages: Readonly<Record<string, Readonly<Record<string, string>>>>) => {
  const settings = { ...PageSettings.defaultValue(), messages };
  const bodies = await Effect.runPromise(Effect.provideService(commandBodies, PageSettings, settings));
  const verify = bodies.find(({ name }) => name === "verify");
  return new Map(Object.entries(verify?.name_localizations ?? {}));
};

const named = (name: string) => ({ "chat.command.verify.name": name });

it("the languages of the chat platform are those of its types", () => {
  expect(chatLocales.toSorted()).toEqual(Object.values<string>(Locale).toSorted());
});

it("the chat platform gets no language that it does not know", async () => {
  const names = await namesOf({ fil: named("beripika"), ms: named("sahkan"), he: named("אימות") });
  expect(["ar", "fil", "ms", "he", "en"].filter((tag) => names.has(tag))).toEqual([]);
  expect(names.get("de")).toBe("verifizieren");
});

it("the chat platform gets languages under its own names", async () => {
  const names = await namesOf({ sv: named("verifiera"), nb: named("bekreft"), "pt-PT": named("confirmar") });
  expect([names.get("sv-SE"), names.get("no")]).toEqual(["verifiera", "bekreft"]);
  for (const tag of ["es-ES", "es-419", "pt-BR"]) expect(names.get(tag)).toBe("verificar");
  expect(["sv", "nb", "es", "pt-PT"].filter((tag) => names.has(tag))).toEqual([]);
});
