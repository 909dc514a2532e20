/**
 * The metrics of several processes as one text, in the format of Prometheus.
 */

/**
 * Gives every sample the label `worker`, which keeps the counters of a worker that was replaced
 * apart from those of the others: a sum would fall, and `rate` take that for a reset of all.
 *
 * @param texts the metrics by the value of the label
 */
export const mergeMetrics = (texts: ReadonlyMap<string, string>): string => {
  const families = new Map<string, Array<string>>();
  for (const [worker, text] of texts) {
    let family: Array<string> = [];
    for (const line of text.split("\n")) {
      if (line === "") continue;
      if (!line.startsWith("#")) family.push(labelled(line, worker));
      else {
        const [, , name = ""] = line.split(" ", 3);
        family = families.get(name) ?? [];
        families.set(name, family);
        if (!family.includes(line)) family.push(line);
      }
    }
  }
  return [...families.values()].map((lines) => `${lines.join("\n")}\n`).join("");
};

const labelled = (sample: string, worker: string): string =>
  sample.replace(/^([\w:]+)(?:\{(.*)\})? /, (_, name: string, labels: string | undefined) => {
    const others = labels === undefined || labels === "" ? "" : `,${labels}`;
    return `${name}{worker="${worker}"${others}} `;
  });
