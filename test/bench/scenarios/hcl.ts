// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse as parseByOther } from '@cdktf/hcl2json';
import { build } from 'esbuild';
import type { BodySchema } from '../../../src/hcl/index.js';
import { decodeFile, parseFile } from '../../../src/hcl/index.js';
import { readCorpus } from '../../campaigns/hcl-cost/corpus.js';
import { textOf } from '../../campaigns/hcl-cost/genome.js';
import { longestTurn, processedInSteps } from '../../campaigns/hcl-cost/measure.js';
import { LONGEST, measured } from '../../campaigns/hcl-cost/search.js';

export interface HclRow {
  readonly name: string;
  readonly milliseconds: number;
}

export interface HclCost {
  readonly name: 'hcl';
  readonly rows: readonly HclRow[];
  /** Largest values that are acceptable, by the name of the row. */
  readonly limits: Readonly<Record<string, number>>;
}

/**
 * What it costs to read a job of 146 lines: parsed only, and parsed, evaluated and decoded; the same text parsed by the WebAssembly build of
 * another implementation in the same run; the first parse in a new process beyond the start of Node itself; and texts of growing size.
 */
export async function run(): Promise<HclCost> {
  const job = jobText();
  const parse = median(400, () => parseFile(job)._unsafeUnwrap());
  const decode = median(400, () => decoded(job));
  const other = await medianAsync(60, () => parseByOther('job.hcl', job));
  const rows: HclRow[] = [
    { name: 'parse 146 lines', milliseconds: parse },
    { name: 'parse, evaluate, decode 146 lines', milliseconds: decode },
    { name: '@cdktf/hcl2json parse 146 lines', milliseconds: other },
    { name: 'ratio to decode', milliseconds: other / decode },
  ];
  for (const kilobytes of [1, 10, 100, 1000]) {
    const text = sized(kilobytes * 1000);
    const repeats = kilobytes >= 100 ? 5 : 50;
    const time = median(repeats, () => decoded(text));
    rows.push({ name: `decode ${kilobytes} KB`, milliseconds: time });
    rows.push({ name: `decode ${kilobytes} KB, per KB`, milliseconds: time / kilobytes });
  }
  rows.push(...hostile());
  const cold = await coldStart(job);
  rows.push(...cold);
  return {
    name: 'hcl',
    rows,
    limits: {
      'parse, evaluate, decode 146 lines': 1,
      'first decode in a process': 25,
      'worst hostile text in one call': 250,
      'longest turn of a hostile text': 250,
      'longest turn of a job of 1 MB': 250,
    },
  };
}

/** Processor time of the worst texts that searches have found (`test/campaigns/hcl-cost`), and of a large one that means no harm. */
function hostile(): readonly HclRow[] {
  const large = sized(1_000_000);
  let call = 0;
  let turn = 0;
  for (const genome of readCorpus()) {
    call = Math.max(call, measured(genome).milliseconds);
    turn = Math.max(turn, longestTurn(processedInSteps(genome.entry, textOf(genome, LONGEST))));
  }
  return [
    { name: 'worst hostile text in one call', milliseconds: call },
    { name: 'longest turn of a hostile text', milliseconds: turn },
    { name: 'longest turn of a job of 1 MB', milliseconds: longestTurn(processedInSteps('job', large)) },
  ];
}

const ids = { next: (): string => '00000000-0000-4000-8000-000000000000' };

const part: BodySchema = {
  attributes: {
    count: { is: 'integer' },
    driver: { is: 'string' },
    data: { is: 'string' },
    destination: { is: 'string' },
    interval: { is: 'duration' },
    region: { is: 'string' },
    datacenters: { is: 'stringList' },
    type: { is: 'string' },
    cpu: { is: 'integer' },
    memory: { is: 'integer' },
    to: { is: 'integer' },
    static: { is: 'integer' },
  },
  blocks: {
    group: { times: 'many', labels: ['name'], body: () => part },
    task: { times: 'many', labels: ['name'], body: () => part },
    network: { times: 'many', body: () => part },
    port: { times: 'many', labels: ['label'], body: () => part },
    resources: { times: 'once', body: () => part },
    template: { times: 'many', body: () => part },
    restart: { times: 'once', body: () => part },
    env: { times: 'once', body: { otherAttributes: { is: 'string' } } },
    meta: { times: 'once', body: { otherAttributes: { is: 'string' } } },
    config: { times: 'once', body: 'freeForm' },
  },
};
const schema: BodySchema = { blocks: { job: { times: 'once', required: true, labels: ['name'], body: part } } };

function decoded(text: string): number {
  return decodeFile(text, { schema, ids, interpret: (body) => body.blocks.size })._unsafeUnwrap().value;
}

/** Three groups with templates, expressions and a dynamic block. */
function jobText(): string {
  const lines = [
    'variable "image" { default = "registry.example/app" }',
    'locals {',
    '  tag = "v${1 + 2}"',
    '}',
    'job "bench" {',
    '  region = "global"',
    '  datacenters = ["dc1", "dc2"]',
    '  meta {',
    '    owner = "team-${upper("a")}"',
    '  }',
  ];
  for (let index = 0; index < 3; index += 1) lines.push(...groupLines(index));
  lines.push('}');
  while (lines.length < 146) lines.splice(10, 0, `  # remark ${lines.length}`);
  return `${lines.join('\n')}\n`;
}

function groupLines(index: number): string[] {
  return `  group "g${index}" {
    count = ${index} + 1
    network {
      port "http" { to = 8080 }
      port "admin" {
        static = ${9000 + index}
      }
    }
    restart {
      interval = "30m"
    }
    task "server" {
      driver = "docker"
      config {
        image = "\${var.image}:\${local.tag}"
        ports = ["http", "admin"]
        args  = [for name in ["a", "b"] : "--\${name}=\${NOMAD_PORT_http}"]
        labels { team = "x" }
      }
      env {
        PORT = "\${NOMAD_PORT_http}"
        HOST = attr.unique.network.ip-address
        MODE = var.image == "x" ? "one" : "two"
      }
      template {
        destination = "local/app.conf"
        data = <<-CONF
          listen \${NOMAD_PORT_http}
          %{ for name in ["a", "b"] ~}
          server \${name}
          %{ endfor ~}
        CONF
      }
      dynamic "template" {
        for_each = ["one", "two"]
        content {
          destination = "local/\${template.value}"
          data = "{{ env }}"
        }
      }
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }`.split('\n');
}

function sized(characters: number): string {
  const block = groupLines(0).slice(0, -1).join('\n').replaceAll('var.image', '"i"').replaceAll('local.tag', '"t"');
  const pieces = ['job "big" {'];
  let size = 0;
  for (let index = 0; size < characters - block.length || index === 0; index += 1) {
    pieces.push(block.replace('"g0"', `"g${index}"`), '  }');
    size += block.length + 5;
  }
  return `${pieces.join('\n')}\n}\n`;
}

function median(repeats: number, work: () => unknown): number {
  for (let warm = 0; warm < Math.min(repeats, 200); warm += 1) work();
  const times = Array.from({ length: repeats }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return middle(times);
}

async function medianAsync(repeats: number, work: () => Promise<unknown>): Promise<number> {
  for (let warm = 0; warm < 10; warm += 1) await work();
  const times: number[] = [];
  for (let index = 0; index < repeats; index += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return middle(times);
}

/** Time within a new process from before the import to behind the first result, measured there, five times each. */
async function coldStart(job: string): Promise<readonly HclRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-hcl-'));
  try {
    const entry = resolve('src/hcl/index.ts');
    await build({
      entryPoints: [entry],
      outdir: folder,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      outExtension: { '.js': '.mjs' },
    });
    writeFileSync(join(folder, 'job.hcl'), job);
    writeFileSync(
      join(folder, 'ours.mjs'),
      `import { readFileSync } from 'node:fs';
const text = readFileSync(new URL('job.hcl', import.meta.url), 'utf8');
const schema = { blocks: { job: { times: 'once', labels: ['name'], body: 'freeForm' } } };
const started = performance.now();
const { decodeFile } = await import('./index.mjs');
const result = decodeFile(text, { schema, ids: { next: () => '' }, interpret: (body) => body.blocks.size });
if (result.isErr()) throw new Error(JSON.stringify(result.error[0]));
console.log(performance.now() - started);`,
    );
    const other = resolve('node_modules/@cdktf/hcl2json/lib/index.js');
    writeFileSync(
      join(folder, 'other.mjs'),
      `import { readFileSync } from 'node:fs';
const text = readFileSync(new URL('job.hcl', import.meta.url), 'utf8');
const started = performance.now();
const { default: { parse } } = await import(${JSON.stringify(other)});
await parse('job.hcl', text);
console.log(performance.now() - started);
process.exit(0);`,
    );
    const ours = coldMedian(join(folder, 'ours.mjs'));
    const theirs = coldMedian(join(folder, 'other.mjs'));
    return [
      { name: 'first decode in a process', milliseconds: ours },
      { name: '@cdktf/hcl2json first parse in a process', milliseconds: theirs },
      { name: 'ratio of first results', milliseconds: theirs / ours },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function coldMedian(program: string): number {
  const times = Array.from({ length: 5 }, () => {
    const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
    const time = Number(stdout);
    if (!(time > 0)) throw new Error(`the program for the cold start failed: ${stderr.slice(0, 500)}`);
    return time;
  });
  return middle(times);
}

function middle(times: readonly number[]): number {
  return [...times].sort((left, right) => left - right)[times.length >> 1] ?? 0;
}
