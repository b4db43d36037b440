package org.klatch.shop.orders;

import java.util.ArrayList;
import java.util.List;

/**
 * The first state of every customer, assembly and component, as functions of a seed.
 *
 * @param seed seed of all draws
 * @param rate injection rate, 1 to 10,000
 */
public record Population(long seed, int rate) {
  private static final int CUSTOMERS = 13;
  private static final int ASSEMBLIES = 14;
  private static final int COMPONENTS = 15;
  private static final int FIRST_ORDERS = 16;

  private static final int COMPONENTS_OF_BILL = 5;
  private static final long LIMIT_OF_MOST_CENTS = 1_000_000_000;

  /** Customers are numbered from 0. */
  public int customers() {
    return 75 * rate;
  }

  /** Assemblies are numbered from 0. */
  public int assemblies() {
    return 100 * ((rate + 99) / 100);
  }

  /** Components are numbered from 0. */
  public int components() {
    return 5 * assemblies();
  }

  /** The price of an assembly, cents. */
  public int price(int assembly) {
    return price(new Draws(seed, ASSEMBLIES, assembly));
  }

  private static int price(Draws draws) {
    return 1_000 + draws.below(9_001);
  }

  /** The assembly with this number. */
  public Assembly assembly(int assembly) {
    Draws draws = new Draws(seed, ASSEMBLIES, assembly);
    int price = price(draws);
    int first = draws.below(components());
    int step = 1 + draws.below(components() / COMPONENTS_OF_BILL - 1);
    List<Part> bill = new ArrayList<>(COMPONENTS_OF_BILL);
    for (int i = 0; i < COMPONENTS_OF_BILL; i++) {
      int component = (first + i * step) % components();
      bill.add(new Part(component, 1 + draws.below(3)));
    }
    return new Assembly(price, bill);
  }

  /** Pieces of a component that are on hand at first. */
  public int onHand(int component) {
    return 1_000 + new Draws(seed, COMPONENTS, component).below(200);
  }

  /** The customer with this number, and its first order. */
  public Customer customer(int customer) {
    List<Line> lines = firstLines(customer);
    Draws draws = new Draws(seed, CUSTOMERS, customer);
    int discount = draws.below(2_001);
    int kind = draws.below(10);
    long total = Line.total(lines, discount);
    long limit = kind == 0 ? total + draws.below(200_001) : LIMIT_OF_MOST_CENTS;
    Order first = new Order(customer, customer, false, false, total, lines);
    return new Customer(discount, limit, first);
  }

  private List<Line> firstLines(int customer) {
    Draws draws = new Draws(seed, FIRST_ORDERS, customer);
    int count = 1 + draws.below(5);
    List<Line> lines = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int assembly = draws.below(assemblies());
      lines.add(new Line(assembly, 1 + draws.below(10), price(assembly)));
    }
    return lines;
  }

  /**
   * An assembly as it is loaded.
   *
   * @param price cents
   * @param bill the components of one piece
   */
  public record Assembly(int price, List<Part> bill) {}

  /**
   * A component of an assembly.
   *
   * @param quantity pieces in one assembly
   */
  public record Part(int component, int quantity) {}

  /**
   * A customer as it is loaded.
   *
   * @param discount hundredths of a per cent
   * @param limit most that the customer may owe, cents
   * @param first the order that it has at first
   */
  public record Customer(int discount, long limit, Order first) {}
}
