import type { Html, ReachedPlatforms } from "../html.ts";
import { type DashboardMessages, dashboardFiles, Language } from "../languages/mod.ts";
import { wordingOf } from "./look/say.ts";

const { default: english } = await dashboardFiles.en();
const wording = wordingOf(new Language<DashboardMessages>("en", "English", english, english));

/** Returns the markup of a part of the dashboard in a language that lacks every message. */
export const withoutMessages = (tag: string, part: Html): string =>
  part.at({
    basePath: "",
    wording: wordingOf(new Language<DashboardMessages>(tag, tag, {}, english), wording),
  });

const platforms = { chat: "Discord", game: "Blocks", hasGameNames: true };

export const inEnglish = (part: Html, reached: Partial<ReachedPlatforms> = {}): string =>
  part.at({ basePath: "", wording, platforms: { ...platforms, ...reached } });
