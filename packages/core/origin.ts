/** @internal */
export const maxRedirectLength = 2_048;

/** Returns whether the text is an http or https origin without a path. */
export const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
