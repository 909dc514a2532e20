import type { Html } from "../../html.ts";
import { say } from "./say.ts";
import { numberHtml } from "./time.ts";

/** How far work is whose length may be unknown yet: then `total` is 0. */
export const progressText = ({ done, total }: { readonly done: number; readonly total: number }): Html =>
  total === 0
    ? numberHtml(done)
    : say("links.progress", { done: numberHtml(done), total: numberHtml(total) });
