// Parses Mermaid diagrams: one JSON string a line in, one JSON object a line out. Needs `npm install` in this folder.
import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";

const dom = new JSDOM("<body></body>");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false });

// Mermaid keeps codes such as #34; as place holders until it draws.
const shown = (text) => text.replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

async function parsed(source) {
  try {
    const diagram = await mermaid.mermaidAPI.getDiagramFromText(source);
    return {
      nodes: [...diagram.db.getVertices().values()].map((node) => [node.id, shown(node.text)]),
      edges: diagram.db.getEdges().map((edge) => [edge.start, edge.end, shown(edge.text)]),
    };
  } catch (error) {
    return { error: String(error).slice(0, 300) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await parsed(JSON.parse(line))));
}
