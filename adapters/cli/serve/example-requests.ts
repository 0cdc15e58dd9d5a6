/**
 * Three requests that work as printed against a server that was just started with open access; with a workspace three commands more,
 * after which a first webhook has been delivered to this host. `program` is how the command line was started.
 */
export function exampleRequests(origin: string, program: string, workspace?: string): string {
  const job = {
    ID: 'hello',
    Type: 'batch',
    TaskGroups: [
      {
        Name: 'greet',
        Tasks: [
          {
            Name: 'greet',
            Driver: 'raw_exec',
            Config: { command: '/bin/echo', args: ['hello'] },
            Resources: { CPU: 20, MemoryMB: 16 },
          },
        ],
      },
    ],
  };
  const body = JSON.stringify({ Job: job });
  return [
    'try:',
    `  curl -s -X POST -H 'Content-Type: application/json' -d '${body}' ${origin}/v1/jobs`,
    `  curl -s '${origin}/v1/job/hello/allocations?pretty'`,
    `  curl -s '${origin}/v1/jobs?pretty'`,
    ...(workspace === undefined ? [] : firstWebhook(origin, program, workspace)),
    '',
  ].join('\n');
}

function firstWebhook(origin: string, program: string, workspace: string): readonly string[] {
  const server = origin === 'http://127.0.0.1:4646' ? '' : ` --address ${origin}`;
  return [
    'a first webhook, in another terminal:',
    `  ${program} receive &`,
    `  ${program} notification put ${workspace} first http://127.0.0.1:4647 --trigger run:completed${server}`,
    `  ${program} event send ${workspace} run:completed --set run_id=run-1${server}`,
  ];
}
