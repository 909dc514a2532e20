/** Uploads files of links as the page of imports does. */
import type { FlowBrowser } from "./flow_browser.ts";
import type { Answer } from "./http.ts";

/** @param fields the form's token, the list and what counts, besides what a test chooses */
export const uploadLinks = (
  { post }: Pick<FlowBrowser, "post">,
  fields: Readonly<Record<string, string>>,
  content: string | Uint8Array<ArrayBuffer>,
  { name = "links.csv", type = "text/csv" } = {},
): Promise<Answer> => {
  const form = new FormData();
  for (const field of Object.entries(fields)) form.append(...field);
  form.append("file", new File([content], name, { type }));
  return post("/dashboard/imports", form);
};
