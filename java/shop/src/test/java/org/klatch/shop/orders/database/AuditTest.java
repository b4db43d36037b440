package org.klatch.shop.orders.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule of the audit, broken by one statement in a database that is just loaded. */
class AuditTest {
  private static final Pattern RULE = Pattern.compile("\"rule\":\"(\\w+)\"");

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE orders SET total = total + 1 WHERE id = 3 | credit totals
          UPDATE orders SET is_cancelled = TRUE WHERE id = 3 | credit ordered
          UPDATE orders SET is_large = TRUE WHERE id = 3 | large
          UPDATE orders SET customer_id = 2 WHERE id = 3 | credit population totals
          DELETE FROM orders WHERE id = 3 | credit ordered population totals
          UPDATE order_lines SET line = 7 WHERE order_id = 3 AND line = 2 | totals
          UPDATE order_lines SET price = price + 1 WHERE order_id = 3 AND line = 2 | totals
          UPDATE order_lines SET quantity = 90 WHERE order_id = 3 AND line = 2 | large ordered totals
          DELETE FROM order_lines WHERE order_id = 2 | ordered population totals
          UPDATE customers SET owed = owed + 1 WHERE customer_id = 3 | credit
          UPDATE customers SET credit_limit = credit_limit + 1 WHERE customer_id = 3 | population
          UPDATE customers SET discount = discount + 1 WHERE customer_id = 3 | population
          DELETE FROM customers WHERE customer_id = 3 | population
          INSERT INTO customers VALUES (75, 0, 0, 0) | population
          UPDATE assemblies SET ordered = ordered + 1 WHERE assembly = 3 | ordered
          UPDATE assemblies SET made = made + 1 WHERE assembly = 3 | made
          UPDATE assemblies SET price = price + 1 WHERE assembly = 3 | population
          DELETE FROM assemblies WHERE assembly = 3 | population
          UPDATE bills SET quantity = quantity + 1 WHERE assembly = 3 AND line = 4 | population
          DELETE FROM bills WHERE assembly = 3 AND line = 4 | population
          INSERT INTO work_orders VALUES (0, 3, 0, 86, 8, 0) | large
          INSERT INTO work_orders VALUES (0, NULL, NULL, 1, 1, 5) | work
          INSERT INTO work_orders VALUES (0, NULL, NULL, 1, 1, -1) | work
          INSERT INTO work_orders VALUES (0, NULL, NULL, 1, 1, 0) | ''
          INSERT INTO work_orders VALUES (0, NULL, NULL, 1, 1, 1) | components
          INSERT INTO work_orders VALUES (0, NULL, NULL, 1, 1, 4) | components made
          UPDATE components SET on_hand = on_hand - 1 WHERE component = 3 | components
          UPDATE components SET on_hand = -1, consumed = 1 + on_hand WHERE component = 3 | components
          UPDATE components SET on_order = 1000 WHERE component = 3 | components
          UPDATE components SET received = 1000, on_hand = on_hand + 1000 WHERE component = 3 | components
          DELETE FROM components WHERE component = 3 | population
          INSERT INTO purchases VALUES (0, 3, 1000, FALSE) | components
          INSERT INTO purchases VALUES (0, 3, 999, TRUE) | components purchases
          INSERT INTO purchases VALUES (0, 3, 1000, FALSE), (1, 3, 1000, FALSE) | components purchases
          """)
  void theAuditNamesTheRulesThatAStatementBreaks(String sql, String rules) throws Exception {
    String url = "jdbc:h2:file:" + folder.resolve("orders");
    OrdersApplication application = new OrdersApplication();
    ((AutoCloseable) application.open(Rules.options(url))).close();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      assertTrue(statement.executeUpdate(sql) > 0, "no row is changed");
    }
    String audit = application.audit(Rules.options(url));
    String broken =
        RULE.matcher(audit).results().map(match -> match.group(1)).collect(Collectors.joining(" "));
    assertEquals(rules, broken, audit);
  }
}
