// SPDX-License-Identifier: Apache-2.0
// Judges deliveries by the public verifier of Standard Webhooks: reads a JSON array of {secret, headers, body (base64)},
// prints one of "good" or the error's name for each. The package is found below NODE_PATH.
'use strict';

const { Webhook } = require('standardwebhooks');

const judge = ({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(Buffer.from(body, 'base64'), headers);
    return 'good';
  } catch (error) {
    return error.constructor.name;
  }
};

const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', () => {
  console.log(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()).map(judge)));
});
