import { validate } from '@readme/openapi-parser';
import { describe, expect, it } from 'vitest';
import { nomad } from '../../../../adapters/compat/nomad.js';
import { routeTable } from '../../../../adapters/http-server/calls/route-table.js';
import { neutral } from '../../../../adapters/http-server/dialect.js';
import { jobSchemas } from '../../../../adapters/http-server/open-api/job-schemas.js';
import { notificationSchemas } from '../../../../adapters/http-server/open-api/notification-schemas.js';
import { openApiDocument } from '../../../../adapters/http-server/open-api/open-api.js';
import { agentSchemas, systemSchemas } from '../../../../adapters/http-server/open-api/system-schemas.js';
import { jobJsonSchema } from '../../../../src/jobs/index.js';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const document = openApiDocument('/api/v2', neutral);
const { paths } = document as unknown as Document;

describe('the OpenAPI document', () => {
  it('is one by the rules of OpenAPI 3.1', async () => {
    const result = await validate(structuredClone(document) as Parameters<typeof validate>[0]);
    expect(result).toMatchObject({ valid: true, warnings: [] });
  });

  it('is refused by the validator when a reference leads nowhere or a path parameter is not described', async () => {
    const broken = structuredClone(document) as { paths: Record<string, { get: Record<string, unknown> }> };
    const read = broken.paths['/v1/job/{job_id}'];
    if (read === undefined) throw new Error('there is no such path');
    read.get['parameters'] = [{ $ref: '#/components/parameters/nowhere' }];
    await expect(
      validate(broken as unknown as Parameters<typeof validate>[0]).then(({ valid }) => valid),
    ).resolves.toBe(false);
  });

  it('has every route with every method, and nothing else', () => {
    const routes = routeTable.flatMap(({ interface: of, path, alias, methods }) =>
      methods.flatMap((method) => [
        `${method} ${of === 'notifications' ? '/api/v2' : ''}${path}`,
        ...(alias === undefined ? [] : [`${method} ${alias}`]),
      ]),
    );
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual([...routes].toSorted());
  });

  it('uses each name of a schema once', () => {
    const submitted = Object.keys(jobJsonSchema().definitions as object);
    const names = [...submitted, ...Object.keys(jobSchemas), ...Object.keys(notificationSchemas)];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(names).toEqual(expect.arrayContaining([...Object.keys(agentSchemas), ...Object.keys(systemSchemas)]));
  });

  it('tells what stood in the way of a removal, and which parameters can be refused', () => {
    const removal = paths['/v1/var/{path}']?.['delete']?.responses;
    expect(removal?.['409']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Variable' } } },
    });
    expect(removal?.['204']).not.toHaveProperty('content');
    expect(paths['/v1/metrics']?.['get']?.responses).toHaveProperty('400');
    expect(paths['/health']?.['get']?.responses).not.toHaveProperty('400');
  });

  it('names the errors of a call with their statuses', () => {
    const responses = paths['/v1/job/{job_id}/scale']?.['post']?.responses ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '403', '404', '500']));
    expect(JSON.stringify(document)).toContain('job_not_found (404)');
    expect(Object.keys(responses)).not.toContain('default');
  });

  it('spells the headers as the server does', () => {
    const upstream = JSON.stringify(openApiDocument('/api/v2', nomad));
    expect(upstream).toContain('"X-Nomad-Index"');
    expect(upstream).toContain('"X-Nomad-Token"');
    expect(upstream).not.toContain('X-SVC-');
    expect(JSON.stringify(document)).not.toContain('X-Nomad-');
  });
});
