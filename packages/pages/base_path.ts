import { Html } from "./html.ts";

/** Adds the base path to the links, forms and files of a document. */
export const documentBelow = (basePath: string, { source }: Html): Html =>
  // Interpolated quotes are escaped, so this pattern matches only attributes that templates wrote.
  new Html(source.replace(/ (href|action|src|data-leaves-for)="\//g, ` $1="${basePath}/`));
