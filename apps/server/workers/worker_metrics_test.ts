import { describe, expect, it } from "vitest";
import { mergeMetrics } from "./worker_metrics.ts";

const requests = (count: number, label = "") => `# HELP requests_total Requests
# TYPE requests_total counter
requests_total${label} ${count}
`;

describe("the metrics of several processes", () => {
  it("are told apart by a label, in one family with one head", () => {
    const texts = new Map([
      ["1", requests(3, '{route="a{b} c"}')],
      ["2", requests(4, '{route="d"}')],
    ]);
    expect(mergeMetrics(texts)).toBe(`# HELP requests_total Requests
# TYPE requests_total counter
requests_total{worker="1",route="a{b} c"} 3
requests_total{worker="2",route="d"} 4
`);
  });

  it("keep families together that one process lacks, and samples without labels", () => {
    const texts = new Map([
      ["primary", `# TYPE up gauge\nup 1\n${requests(5)}`],
      ["1", `${requests(6)}# TYPE up gauge\nup 0\n`],
      ["2", ""],
    ]);
    expect(mergeMetrics(texts)).toBe(`# TYPE up gauge
up{worker="primary"} 1
up{worker="1"} 0
# HELP requests_total Requests
# TYPE requests_total counter
requests_total{worker="primary"} 5
requests_total{worker="1"} 6
`);
  });
});
