/** @internal */
export const maxRedirectLength = 2_048;

/** Returns whether the text is an http or https origin without a path. A `*`, which URLs allow, would match no other host. */
export const isOrigin = (text: string): boolean =>
  /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
