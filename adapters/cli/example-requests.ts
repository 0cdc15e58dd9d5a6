/** Three requests that work as printed against a server that was just started with open access. */
export function exampleRequests(origin: string): string {
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
    '',
  ].join('\n');
}
