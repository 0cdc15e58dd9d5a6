import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import { neutral } from '../../../adapters/http-server/dialect.js';
import { openApiDocument } from '../../../adapters/http-server/open-api/open-api.js';
import { everything, filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

/* A client whose types are generated from the OpenAPI document compiles under strict rules, and its requests are answered. */

const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './types.js';

type Told = Record<string, string | number | boolean | undefined>;

export async function use(baseUrl: string, workspaceId: string, nodeId: string): Promise<Told> {
  const client = createClient<paths>({ baseUrl });
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true', args: ['-c', 1] } };
  const Job: components['schemas']['SubmittedJob'] = {
    ID: 'made',
    Type: 'batch',
    TaskGroups: [{ Name: 'g', Count: 2, Scaling: { Min: 0, Max: 5 }, Tasks: [task] }],
  };
  const registered = await client.POST('/v1/jobs', { body: { Job } });
  const evaluationId: string = registered.data?.EvalID ?? '';
  const list = await client.GET('/v1/jobs', { params: { query: { prefix: 'made', per_page: 5, meta: true } } });
  const queued: number | undefined = list.data?.[0]?.JobSummary?.Summary['g']?.Queued;
  const read = await client.GET('/v1/job/{job_id}', { params: { path: { job_id: 'made' } } });
  const priority: number | undefined = read.data?.Priority;
  const command: unknown = read.data?.TaskGroups?.[0]?.Tasks?.[0]?.Config?.['command'];
  const scaled = await client.PUT('/v1/job/{job_id}/scale', {
    params: { path: { job_id: 'made' } },
    body: { Count: 3, Target: { Group: 'g' }, Message: 'more', Meta: { why: ['more'] } },
  });
  const scale = await client.GET('/v1/job/{job_id}/scale', { params: { path: { job_id: 'made' } } });
  const event = scale.data?.TaskGroups['g']?.Events?.[0];
  const evaluation = await client.GET('/v1/evaluation/{evaluation_id}', {
    params: { path: { evaluation_id: evaluationId }, query: { related: true } },
  });
  const status: 'blocked' | 'pending' | 'complete' | 'failed' | 'canceled' | undefined = evaluation.data?.Status;
  const node = await client.GET('/v1/node/{node_id}', { params: { path: { node_id: nodeId } } });
  const memory: number | undefined = node.data?.NodeResources.Memory?.MemoryMB;
  const variable = await client.PUT('/v1/var/{path}', {
    params: { path: { path: 'made/one' }, query: { cas: 0 } },
    body: { Items: { k: 'v' } },
  });
  const deployments = await client.GET('/v1/deployments');
  const placed: number | undefined = deployments.data?.[0]?.TaskGroups['g']?.PlacedAllocs;
  const created = await client.POST('/workspaces/{workspace_id}/notification-configurations', {
    params: { path: { workspace_id: workspaceId } },
    headers: { 'Content-Type': 'application/vnd.api+json' },
    body: {
      data: {
        type: 'notification-configurations',
        attributes: { 'destination-type': 'generic', name: 'made', url: 'https://hooks.example.net/made', enabled: false },
      },
    },
  });
  const configuration: string | undefined = created.data?.data.id;
  const absent = await client.GET('/v1/job/{job_id}', { params: { path: { job_id: 'none' } }, parseAs: 'text' });
  const reason: string | undefined = absent.error;

  // @ts-expect-error: there is no such path
  void (() => client.GET('/v1/nothing'));
  // @ts-expect-error: the path needs its parameter
  void (() => client.GET('/v1/job/{job_id}', { params: { path: {} } }));
  // @ts-expect-error: the count is a number
  void (() => client.PUT('/v1/job/{job_id}/scale', { params: { path: { job_id: 'x' } }, body: { Count: 'three' } }));
  // @ts-expect-error: an evaluation has no such member
  void evaluation.data?.Nothing;

  return {
    queued,
    priority,
    command: String(command),
    scaled: scaled.response.status,
    count: event?.Count ?? undefined,
    status,
    hasMemory: memory !== undefined,
    variable: variable.data?.Items?.['k'],
    hasPlaced: placed !== undefined,
    created: created.response.status,
    hasConfiguration: configuration !== undefined,
    absent: absent.response.status,
    reason,
  };
}
`;

const options: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
};

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  const types = await openapiTS(openApiDocument('', neutral) as unknown as OpenAPI3);
  await writeFile(join(folder, 'types.ts'), astToString(types));
  await writeFile(join(folder, 'program.ts'), program);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  server = createServer(nodeListener(createHttpHandler(await filledEngine(), everything)));
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((stopped) => server.close(stopped));
  await rm(folder, { recursive: true, force: true });
});

describe('a client generated from the OpenAPI document', () => {
  it('compiles under strict rules, and its requests are answered as its types say', async () => {
    const compiled = ts.createProgram([join(folder, 'program.ts')], options);
    const faults = ts.getPreEmitDiagnostics(compiled).map(({ messageText, file, start }) => {
      const line = file !== undefined && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${file?.fileName ?? ''}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(faults).toEqual([]);
    compiled.emit();

    const { use } = (await import(pathToFileURL(join(folder, 'program.js')).href)) as {
      use: (baseUrl: string, workspaceId: string, nodeId: string) => Promise<unknown>;
    };
    const { port } = server.address() as AddressInfo;
    const told = await use(`http://127.0.0.1:${port}`, pathValues['workspace_id'] ?? '', pathValues['node_id'] ?? '');
    expect(told).toEqual({
      queued: 0,
      priority: 50,
      command: '/bin/true',
      scaled: 200,
      count: 3,
      status: 'pending',
      hasMemory: true,
      variable: 'v',
      hasPlaced: true,
      created: 201,
      hasConfiguration: true,
      absent: 404,
      reason: expect.stringMatching(/^job not found: GET /),
    });
  }, 180_000);
});
