<?php
// SPDX-License-Identifier: Apache-2.0
// What a shop would write in PHP for the same charge: one transaction that claims the reference and
// keeps the charge, durable before the answer (WAL, synchronous=FULL), and the same answer.
header('Content-Type: application/json; charset=utf-8');
header('Cache-Control: no-store');

function refuse(int $status, string $message): never
{
    http_response_code($status);
    exit(json_encode(['status' => false, 'message' => $message]));
}

if (!hash_equals('Bearer ' . getenv('BENCH_SECRET'), $_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
    refuse(401, 'Invalid key');
}
$body = json_decode(file_get_contents('php://input'), true);
if (!is_array($body) || ($body['token'] ?? '') !== 'tok_test_success'
    || !is_numeric($body['amount'] ?? null) || $body['amount'] <= 0
    || !filter_var($body['email'] ?? '', FILTER_VALIDATE_EMAIL)
    || !preg_match('/^[!-~]{1,100}$/', $body['reference'] ?? '')) {
    refuse(400, 'Invalid request');
}
$db = new PDO('sqlite:' . getenv('BENCH_DATABASE'), null, null, [
    PDO::ATTR_PERSISTENT => true,
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
]);
$db->exec('PRAGMA busy_timeout=60000');
$db->exec('PRAGMA synchronous=FULL');

$charge = [
    'status' => 'successful',
    'reference' => $body['reference'],
    'amount' => number_format($body['amount'], 2, '.', ''),
    'currency' => 'NGN',
    'createdAt' => gmdate('Y-m-d\TH:i:s.000\Z'),
    'channel' => 'card',
    'customer' => ['email' => $body['email'], 'firstName' => '', 'lastName' => ''],
    'card' => ['first6' => '408408', 'last4' => '4081', 'brand' => 'Visa', 'country' => 'NG', 'type' => 'debit'],
    'authorizationCode' => strtoupper(substr(hash('sha256', $body['reference']), 0, 6)),
    'message' => 'Approved',
];
try {
    $db->exec('BEGIN IMMEDIATE');
    $db->prepare('INSERT INTO charge (reference, request_digest, record) VALUES (?, ?, ?)')->execute([
        $body['reference'], hash('sha256', json_encode($body)), json_encode($charge)]);
    $id = $db->lastInsertId();
    $db->prepare('INSERT INTO charge_ref (reference, charge) VALUES (?, ?)')->execute([$body['reference'], $id]);
    $db->exec('COMMIT');
} catch (PDOException $error) {
    try {
        $db->exec('ROLLBACK');
    } catch (PDOException) {
        // There was no transaction to roll back.
    }
    refuse($error->getCode() === '23000' ? 409 : 503, 'Not stored');
}
echo json_encode(['status' => true, 'message' => 'Charge successful', 'data' => ['id' => (int) $id] + $charge]);
