import { Html } from "./html.ts";

/** A document whose links, forms and files are below the base path. */
export const documentBelow = (basePath: string, { source }: Html): Html =>
  // Interpolated quotes are escaped, so these attributes are those that templates name.
  new Html(source.replace(/ (href|action|src|data-leaves-for)="\//g, ` $1="${basePath}/`));
