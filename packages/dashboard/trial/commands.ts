/**
 * A request as a line for a terminal and as a line of JavaScript.
 */

export interface Request {
  readonly method: "GET";
  readonly url: string;
}

/** @param key a key, or the variable of the shell that has it */
export const curlOf = ({ url }: Request, key: string): string =>
  `curl -s "${url}" -H "Authorization: Bearer ${key}"`;

/** A module that sends the request with the key of the environment. */
export const fetchOf = ({ url }: Request): string =>
  `const response = await fetch(${JSON.stringify(url)}, {
  headers: { Authorization: \`Bearer \${process.env.ACCOUNTLINK_KEY}\` },
});
console.log(response.status, await response.json());`;
